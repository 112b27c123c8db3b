import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    // DuckDB and the workers use every core themselves: more files at once would only queue.
    maxWorkers: 2,
    testTimeout: 90_000,
    hookTimeout: 90_000,
    coverage: {
      include: ['engine/**/*.ts', 'connectors/**/*.ts', 'server/**/*.ts'],
      exclude: ['server/console/**', '**/dist/**'],
      // A table of folders for people; the page below it leads into each file.
      reporter: ['text-summary', ['text', { skipFull: true }], 'html'],
      reportsDirectory: 'data/coverage',
    },
  },
})
