import { fileURLToPath } from 'node:url'
import { defineConfig, mergeConfig } from 'vitest/config'
import config from '../vitest.config.ts'

const ENGINE = fileURLToPath(new URL('../../engine/index.ts', import.meta.url))
const OURS = fileURLToPath(new URL('engine.ts', import.meta.url))

/** The tests of the service, each with its catalog in PostgreSQL and its rows in an S3 store. */
export default mergeConfig(
  config,
  defineConfig({
    plugins: [
      {
        name: 'everything-elsewhere',
        enforce: 'pre',
        async resolveId(source, importer) {
          if (importer === undefined || importer === OURS) return undefined
          const found = await this.resolve(source, importer, { skipSelf: true })
          return found?.id === ENGINE ? OURS : undefined
        },
      },
    ],
    test: {
      globalSetup: [fileURLToPath(new URL('global-setup.ts', import.meta.url))],
      // A module out of the cache is loaded without the plugin, and other runs share the cache.
      fsModuleCache: false,
    },
  }),
)
