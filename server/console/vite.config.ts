import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'

/** Writes scripts and styles compressed as well; the server sends them so where a browser takes it. */
export const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  writeBundle({ dir }, bundle) {
    for (const name of Object.keys(bundle)) {
      const file = join(dir!, name)
      if (/\.(js|css)$/.test(name)) writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
    }
  },
}

export default defineConfig({
  base: '/console/',
  plugins: [
    compressed,
    {
      name: 'no-patterns',
      // The console completes names of functions; patterns are compiled on the server.
      enforce: 'pre',
      resolveId: (id) => (id === '@eslint-community/regexpp' ? '\0no-patterns' : undefined),
      load: (id) =>
        id === '\0no-patterns'
          ? 'export class RegExpParser {} export function visitRegExpAST() {}'
          : undefined,
    },
    {
      name: 'no-other-hosts',
      // The parser's errors say where to report them; the console names no other host.
      transform: (code, id) =>
        id.endsWith('marked.esm.js') ? code.replace(/\\nPlease report this to https:[^']*/, '') : undefined,
    },
  ],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // The Content-Security-Policy is `default-src 'self'`: a data: address would be refused.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
