import { defineConfig, mergeConfig } from 'vitest/config'
import config from '../vitest.config.ts'

/** Tests that write down the statements which they send to DuckDB. */
export default mergeConfig(config, defineConfig({ test: { setupFiles: ['./test/next/record.ts'] } }))
