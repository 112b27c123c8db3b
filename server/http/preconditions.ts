import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { ServerError } from './errors.ts'

/** The entity tag of a record. It changes when any of the given values changes. */
export function recordTag(...values: readonly unknown[]): string {
  return `"${hash('sha256', JSON.stringify(values), 'base64url').slice(0, 22)}"`
}

/**
 * Refuses a change if the record is no longer as the client saw it: `If-Match`, compared strongly (RFC 9110, 13.1.1).
 * Call it in the transaction that makes the change.
 * @throws ServerError `changed_meanwhile`
 */
export function requireMatch({ headers }: FastifyRequest, tag: string): void {
  const given = headers['if-match']
  if (given === undefined || given.trim() === '*' || given.split(',').some((one) => one.trim() === tag))
    return
  throw new ServerError(
    'changed_meanwhile',
    'The record has changed since you read it: its ETag is not the one in If-Match. Nothing was changed.',
  )
}
