import { fileURLToPath } from 'node:url'
import { defineConfig, mergeConfig } from 'vitest/config'
import config from '../vitest.config.ts'

/** The tests of the service, with a Trino that answers every question that it can, however small. */
export default mergeConfig(
  config,
  defineConfig({
    test: {
      globalSetup: [fileURLToPath(new URL('global-setup.ts', import.meta.url))],
      // All services have the same address for Trino, one after the other.
      fileParallelism: false,
    },
  }),
)
