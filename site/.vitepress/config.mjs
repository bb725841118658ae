// The site of the documentation. Its pages are the Markdown files of the repository, as they are, at
// the same paths; README.md is the first page. VERSION names the folder of the version that is built, BASE the
// path under which the site is served.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { anchor, code, links, literal, tables } from './markdown.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const versions = path.join(root, 'bin/site')
const version = process.env.VERSION || 'next'
const base = process.env.BASE || '/'
const repository = 'https://github.com/omnigraph-go/omnigraph'

// The files in the sidebar. A guide that no group lists is an error.
const start = ['README', 'docs/install', 'docs/quickstart', 'docs/import', 'docs/team-rights', 'docs/clients']
const guides = {
  'Write': ['language', 'authoring', 'evaluation', 'editors', 'valid-time', 'past'],
  'Fill': ['commands', 'import-postgres', 'import-follow', 'code', 'analysis'],
  'Connect': ['mcp', 'client', 'feed', 'watches', 'studio'],
  'Control': ['identity', 'policy', 'audit', 'drafts', 'proposals'],
  'Run': ['cluster', 'migrations', 'deployment', 'backup', 'scale', 'operations']
}
const reference = [...below('docs/reference'), 'docs/reference/tools/code']
const lookup = ['docs/limits', 'docs/glossary', 'docs/compatibility']
const why = ['ARCHITECTURE', 'docs/comparison', 'docs/benchmarks', 'CHANGELOG', 'SECURITY', 'CONTRIBUTING', 'docs/releases']

const listed = new Set([...start, ...reference, ...lookup, ...why, ...Object.values(guides).flat().map(name => 'docs/' + name)])
for (const page of below('docs')) {
  if (!listed.has(page)) throw new Error(`${page}.md is in no group of the sidebar: add it to site/.vitepress/config.mjs`)
}

// below returns the names of the pages in a folder, without their ending.
function below(folder) {
  return readdirSync(path.join(root, folder)).filter(name => name.endsWith('.md')).sort().map(name => `${folder}/${name.slice(0, -3)}`)
}

// item is the entry of a page in the sidebar. Its text is the heading of the page, without what follows a colon.
function item(page) {
  const heading = readFileSync(path.join(root, page + '.md'), 'utf8').match(/^# (.*)$/m)[1]
  return { text: page === 'README' ? 'Serve a graph of your own' : heading.split(':')[0], link: page === 'README' ? '/' : '/' + page }
}

// The pages lie outside of this folder, so Vite does not find Vue for them. Node finds it when it renders the pages.
const vue = {
  name: 'vue', enforce: 'pre',
  resolveId: (id, importer, options) => options.ssr && /^vue(\/server-renderer)?$/.test(id) ? { id, external: true } : null
}

export default defineConfig({
  srcDir: root,
  srcExclude: ['{bin,client,cmd,codegen,engine,generated,gq,internal,queries,release,server,site,studio,test}/**', '.github/**', 'bench/!(runs)/**'],
  rewrites: { 'README.md': 'index.md' },
  outDir: path.join(versions, version),
  base: `${base}${version}/`,
  title: 'Omnigraph',
  description: 'A graph server that stands between a team’s agents and its shared knowledge',
  lang: 'en',
  markdown: {
    attrs: { disable: true }, // {id} in a heading is the parameter of a route
    linkify: false, // operations.md is the name of a file
    anchor: { slugify: anchor },
    languages: ['gq', 'pg'].map(name => ({ ...JSON.parse(readFileSync(path.join(root, `cmd/gq/editors/vscode/syntaxes/${name}.tmLanguage.json`), 'utf8')), name })),
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(md) {
      links(md, root, `${repository}/blob/${version === 'next' ? 'main' : version}/`)
      tables(md)
      code(md)
      literal(md)
    }
  },
  vite: { plugins: [vue], build: { chunkSizeWarningLimit: 5000 } },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/docs/install' },
      { text: 'Guides', link: '/docs/language' },
      { text: 'Reference', link: '/docs/reference/commands' },
      { text: 'Why', link: '/docs/comparison' },
      { text: version, link: `pathname://${base}`, target: '_self' }
    ],
    sidebar: {
      '/docs/reference/': [{ text: 'Reference', items: reference.map(item) }],
      '/': [
        { text: 'Start', items: start.map(item) },
        ...Object.entries(guides).map(([text, names]) => ({ text, items: names.map(name => item('docs/' + name)) })),
        { text: 'Look up', items: [...lookup.map(item), { text: 'Reference', link: '/docs/reference/commands' }] },
        { text: 'Why', items: why.map(item) }
      ]
    },
    outline: [2, 3],
    search: { provider: 'local' }
  },
  // The first page of the site lists the versions that were built, the newest first.
  buildEnd() {
    const built = readdirSync(versions).filter(name => existsSync(path.join(versions, name, 'index.html')))
    built.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    const items = built.map(name => `<li><a href="${base}${name}/">${name}</a></li>`).join('\n')
    writeFileSync(path.join(versions, 'index.html'), `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Omnigraph: versions of the documentation</title>
<style>:root { color-scheme: light dark; background: Canvas } body { font: 1rem/1.6 system-ui, sans-serif; margin: 3rem auto; max-width: 40rem; padding: 0 1rem }</style>
<main>
<h1>Omnigraph</h1>
<p>The documentation of each version:</p>
<ul>
${items}
</ul>
</main>
</html>
`)
  }
})
