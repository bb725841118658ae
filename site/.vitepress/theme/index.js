// The theme of VitePress with the fonts of the system, and with a page for missing pages that has a landmark.
import { withBase } from 'vitepress'
import Theme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import './site.css'

export default {
  extends: Theme,
  Layout: () => h(Theme.Layout, null, {
    'not-found': () => h('main', { class: 'missing vp-doc' }, [h('h1', 'There is no such page'), h('p', h('a', { href: withBase('/') }, 'The first page'))])
  })
}
