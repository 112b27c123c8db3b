import { gunzipSync } from 'node:zlib'
import type { FastifyBaseLogger } from 'fastify'
import type { Query } from '../../engine/index.ts'
import type { Coding } from './negotiate.ts'

/** An infinite double in csv, tsv, json or ndjson. It may be a word of a text, too. */
const INFINITY = /(?<!\w)INF(?!\w)/

/**
 * Logs the parameters of a computed answer that has infinities although the rows that it was computed from have none.
 * That may be right: a number divided by 0 as a double is infinite. But once `price div 200` gave such an answer, as if
 * 0 had been bound in place of 200, and nothing told what had been bound.
 * @param coding how `body` is compressed
 */
export async function logInfinities(
  query: Query,
  body: Buffer,
  coding: Coding | undefined,
  log: FastifyBaseLogger,
): Promise<void> {
  const { stepParameters: parameters } = query.plan
  if (parameters.length === 0) return
  const text = (coding === 'gzip' ? gunzipSync(body) : body).toString('latin1')
  if (!INFINITY.test(text) || (await query.readsInfinities())) return
  log.warn({ parameters }, 'a computed answer has infinities where what it was computed from has none')
}
