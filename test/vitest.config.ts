import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: ['test/**/*.test.ts'],
    // DuckDB and the workers use every core themselves: more files at once would only queue.
    maxWorkers: 2,
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
})
