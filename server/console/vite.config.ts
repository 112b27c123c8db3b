import { defineConfig } from 'vite'

export default defineConfig({
  base: '/console/',
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
