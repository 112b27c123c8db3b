import { createRequire } from 'node:module'

let loaded: typeof import('chevrotain') | undefined

/** Chevrotain. Loading it takes as long as all the rest of the engine, so those who ask without a filter are spared. */
export function chevrotain(): typeof import('chevrotain') {
  loaded ??= createRequire(import.meta.url)('chevrotain') as typeof import('chevrotain')
  return loaded
}
