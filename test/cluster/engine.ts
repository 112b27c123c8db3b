import { type Engine, type EngineOptions, openEngine as open } from '../../engine/index.ts'
import { elsewhereOf } from './elsewhere.ts'

/**
 * The engine as tests know it, its catalog in PostgreSQL and its rows in an S3 store: the configuration beside this file
 * puts it in its place.
 */
export * from '../../engine/index.ts'

export async function openEngine(options: EngineOptions): Promise<Engine> {
  // A directory of another type is refused.
  if (options.store !== undefined || typeof options.directory !== 'string') return open(options)
  return open({ ...options, ...(await elsewhereOf(options.directory)) })
}
