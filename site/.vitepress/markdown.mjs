// What the site changes in Markdown that the repository shows as it is.
import { existsSync } from 'node:fs'
import path from 'node:path'

// anchor returns the anchor that GitHub gives a heading. links_test.go has the same rule.
export function anchor(heading) {
  return heading.trim().toLowerCase().replace(/[^\p{L}\p{M}\p{N} _-]/gu, '').replaceAll(' ', '-')
}

// links lets a relative link lead to the page of a file, or to the file in the repository if the site
// has no page for it. A link to a file that does not exist is an error.
export function links(md, root, repository) {
  md.core.ruler.push('repository_links', state => {
    const page = state.env.relativePath === 'index.md' ? 'README.md' : state.env.relativePath
    for (const token of state.tokens.flatMap(t => t.children || [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : ''
      if (!href || /^([a-z]+:|#)/.test(href)) continue
      const [file, hash] = href.split('#')
      const target = path.posix.join(path.posix.dirname(page), file)
      if (!existsSync(path.join(root, target))) throw new Error(`${page} links to ${href}, and there is no ${target}`)
      const url = target === 'README.md' ? '/' : isPage(target) ? '/' + target : repository + target
      token.attrSet('href', hash ? `${url}#${hash}` : url)
    }
  })
}

// isPage reports whether the site has a page for a file.
function isPage(file) {
  return file.endsWith('.md') && /^(docs\/|bench\/runs\/|[A-Z]+\.md$)/.test(file)
}

// tables lets the keyboard reach tables, which scroll when they are wider than the page, and makes a cell of a heading without text.
export function tables(md) {
  md.renderer.rules.table_open = () => '<table tabindex="0">\n'
  md.core.ruler.push('empty_headings', state => {
    state.tokens.forEach((token, i) => {
      if (token.type === 'th_open' && state.tokens[i + 1].content === '') token.tag = state.tokens[i + 2].tag = 'td'
    })
  })
}

// code shows an indented block as a fenced one, which scrolls.
export function code(md) {
  md.core.ruler.push('indented_code', state => {
    for (const token of state.tokens) {
      if (token.type === 'code_block') Object.assign(token, { type: 'fence', info: 'text', markup: '```' })
    }
  })
}

// literal shows two braces as they are. Vue, which renders the pages, would read an expression between them.
export function literal(md) {
  for (const rule of ['text', 'code_inline']) {
    const render = md.renderer.rules[rule]
    md.renderer.rules[rule] = (...given) => render(...given).replaceAll('{{', '&#123;&#123;')
  }
}
