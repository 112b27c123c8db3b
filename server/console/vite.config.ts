import { defineConfig } from 'vite'

export default defineConfig({
  base: '/console/',
  plugins: [
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
