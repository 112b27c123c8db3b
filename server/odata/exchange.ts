import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Engine } from '../../engine/index.ts'
import type { Exports } from '../transfers/exports.ts'
import type { KeptSnapshots } from '../transfers/kept-snapshots.ts'
import type { JsonRequest } from './negotiate.ts'

/** What answers are made with. */
export interface Place {
  readonly engine: Engine
  readonly exports: Exports
  readonly kept: KeptSnapshots
  /** Rows of a page, where the client asks for no smaller ones. */
  readonly pageRows: number
}

/** One request to the service, with what has been found out about it. */
export interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The service root, absolute, with a slash at its end. */
  readonly root: string
  readonly json: JsonRequest
}

/** The beginning of an object with its context (JSON Format 4.01, 4.6.1), up to where the next member stands. */
export function contextHead({ root, json }: Exchange, fragment: string): string {
  if (json.metadata === 'none') return '{'
  return `{"@odata.context":${JSON.stringify(`${root}$metadata#${fragment}`)},`
}
