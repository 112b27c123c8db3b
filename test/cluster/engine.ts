import { type Engine, type EngineOptions, openEngine as open } from '../../engine/index.ts'
import { storeOf } from './store-of.ts'

/** The engine as tests know it, its rows in an S3 store: the configuration beside this file puts it in its place. */
export * from '../../engine/index.ts'

export function openEngine(options: EngineOptions): Promise<Engine> {
  return open({ ...options, store: options.store ?? storeOf(options.directory) })
}
