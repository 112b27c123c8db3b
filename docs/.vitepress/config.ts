import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { defineConfig } from 'vitepress'
import { compressed } from '../../server/console/vite.config.ts'

const docs = resolve(import.meta.dirname, '..')
/** What most people do first. */
const TASKS = [
  'upload',
  'filter',
  'group',
  'sql',
  'excel',
  'power-bi',
  'python',
  'r',
  'undo',
  'change',
  'describe',
  'share',
  'keys',
  'series',
  'schedule',
]
const REPOSITORY = 'https://github.com/parquetry/parquetry/blob/main/'

/** The pages of a folder by their titles: those of `first` in that order, then the others by their names. */
function pagesOf(folder: string, first: readonly string[] = []) {
  const names = readdirSync(join(docs, folder)).filter((name) => name.endsWith('.md') && name !== 'index.md')
  const others = names.filter((name) => !first.includes(name.replace('.md', '')))
  return [...first.map((name) => `${name}.md`), ...others].map((name) => page(`${folder}/${name}`))
}

function page(path: string) {
  const [, title = path] = /^# (.*)$/m.exec(readFileSync(join(docs, path), 'utf8')) ?? []
  return { text: title.replaceAll('`', ''), link: `/${path.replace(/\.md$/, '')}` }
}

const pages = (...paths: readonly string[]) => paths.map(page)

export default defineConfig({
  title: 'Parquetry',
  description: 'Tables as a fast, filterable HTTP API, and the world’s economic series through the same API',
  base: '/guide/',
  outDir: '../server/guide/dist',
  cacheDir: '../node_modules/.cache/vitepress',
  cleanUrls: true,
  // What is small enough to be inlined would be a data: address, which the Content-Security-Policy forbids.
  vite: { plugins: [compressed], build: { assetsInlineLimit: 0, chunkSizeWarningLimit: 2_000 } },
  rewrites: { 'decisions/README.md': 'decisions/index.md' },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-default' },
    config(markdown) {
      const open = markdown.renderer.rules.link_open!
      // Links to files of the repository that are no pages of the site lead to the repository.
      markdown.renderer.rules.link_open = (tokens, at, options, env, self) => {
        const address = tokens[at]!.attrGet('href') ?? ''
        const target = resolve(env.path, '..', address)
        if (!/^([a-z]+:|#|\/)/.test(address) && relative(docs, target).startsWith('..'))
          tokens[at]!.attrSet('href', REPOSITORY + relative(join(docs, '..'), target))
        return open(tokens, at, options, env, self)
      }
      // An empty cell above a column is no heading.
      markdown.renderer.rules.th_open = (tokens, at, options, _env, self) => {
        if (tokens[at + 1]!.content === '') tokens[at]!.tag = tokens[at + 2]!.tag = 'td'
        return self.renderToken(tokens, at, options)
      }
    },
  },
  themeConfig: {
    search: {
      provider: 'local',
      // The name of the button is what is written on it.
      options: { translations: { button: { buttonAriaLabel: '' } } },
    },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Tasks', link: '/tasks/upload', activeMatch: '/tasks/' },
      { text: 'Reference', link: '/reference/options', activeMatch: '/reference/' },
      { text: 'HTTP API', link: '/reference/http' },
    ],
    sidebar: {
      // A list of its own, so that not every other page contains it.
      '/errors/': [{ text: 'Errors', link: '/errors/', items: pagesOf('errors') }],
      '/': [
        { text: 'Start', items: pages('start.md', 'comparison.md', 'performance.md') },
        { text: 'Tasks', items: pagesOf('tasks', TASKS) },
        { text: 'Concepts', items: pages('versions.md', 'permissions.md', 'glossary.md') },
        {
          text: 'Reference',
          items: [...pages('library.md', 'providers.md', 'operate.md', 'scale.md'), ...pagesOf('reference')],
        },
        { text: 'Troubleshooting', items: [{ text: 'Errors', link: '/errors/' }, page('tasks/slow.md')] },
        {
          text: 'Internals',
          items: [
            ...pages('data-on-disk.md', 'threads.md', 'measurements.md'),
            { text: 'Decisions', link: '/decisions/' },
          ],
        },
      ],
    },
  },
})
