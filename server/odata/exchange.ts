import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Services } from '../services.ts'
import type { JsonRequest } from './negotiate.ts'

/** A request to the service, with what has been parsed from it. */
export interface Exchange {
  readonly services: Services
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
