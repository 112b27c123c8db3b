import { createRequire } from 'node:module'

let loaded: typeof import('chevrotain') | undefined

/**
 * Chevrotain, loaded at the first use: loading takes as long as all the rest of the engine, and a query without a
 * filter does not need it.
 */
export function chevrotain(): typeof import('chevrotain') {
  loaded ??= createRequire(import.meta.url)('chevrotain') as typeof import('chevrotain')
  return loaded
}
