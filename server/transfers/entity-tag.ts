import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type { Query } from '../../engine/index.ts'
import { SECURITY_HEADERS } from '../http/headers.ts'
import type { Download } from './download.ts'
import { type Coding, FORMAT_FACTS } from './formats.ts'

/**
 * The entity tag of a download: strong if equal tags mean equal bytes, weak if the same rows may be compressed or
 * packed differently (RFC 9110, 8.8.1).
 */
export function entityTag(
  query: Query,
  { format, variant, encoding }: Download,
  coding: Coding | undefined,
  release: string,
): string {
  // They may hold what a tag may not: quotes, and characters outside of ASCII.
  const parts = [variant, encoding && JSON.stringify(encoding), query.metadataIn(format)].map(
    (text) => text && hashOf(text),
  )
  const opaque = [query.etag, release, format, ...parts, coding].filter(Boolean).join('-')
  const strong = FORMAT_FACTS[format].exact && coding === undefined
  return `${strong ? '' : 'W/'}"${opaque}"`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 12)
}

/**
 * Answers 304. The client goes on using its copy with the headers that came with it, so only the headers for a 304 are
 * sent (RFC 9110, 15.4.5).
 */
export function notModified(reply: FastifyReply): FastifyReply {
  for (const name of [...Object.keys(SECURITY_HEADERS), 'link']) reply.removeHeader(name)
  return reply.code(304).send()
}
