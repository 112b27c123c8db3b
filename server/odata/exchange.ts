import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LRUCache } from 'lru-cache'
import type { Engine } from '../../engine/index.ts'
import type { Exports } from '../transfers/exports.ts'
import type { KeptSnapshots } from '../transfers/kept-snapshots.ts'
import type { JsonRequest } from './negotiate.ts'

/** What the handlers need from the server. */
export interface Backend {
  readonly engine: Engine
  readonly exports: Exports
  readonly kept: KeptSnapshots
  /** Documents of `$metadata` by their tags. */
  readonly documents: LRUCache<string, Buffer>
  /** Rows per page, unless the client asks for fewer. */
  readonly pageRows: number
}

/** A request to the service, with what has been parsed from it. */
export interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Absolute address of the service root, with a trailing slash. */
  readonly root: string
  readonly json: JsonRequest
}

/**
 * The beginning of a JSON object with its `@odata.context` (JSON Format 4.01, 4.6.1), to be followed by the next
 * member.
 */
export function contextHead({ root, json }: Exchange, fragment: string): string {
  if (json.metadata === 'none') return '{'
  return `{"@odata.context":${JSON.stringify(`${root}$metadata#${fragment}`)},`
}
