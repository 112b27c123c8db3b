import type { UpstreamAnswer } from '../../connector.ts'
import { ConnectorError, keyRejected, limitReached, providerDown } from '../../errors.ts'
import { type JsonRecord, notUnderstood, record, text } from '../../read.ts'
import { openBody, refusedStatus } from '../../statuses.ts'

export const info = {
  slug: 'nasdaq',
  name: 'Nasdaq Data Link',
  description: 'Tables and time series of Nasdaq Data Link, formerly Quandl.',
  homepage: 'https://data.nasdaq.com',
  tier: 'paid',
  baseUrl: 'https://data.nasdaq.com/api/v3',
  key: 'required',
  limits: {
    windows: [
      { requests: 300, perSeconds: 10 },
      { requests: 2000, perSeconds: 600 },
      { requests: 50_000, perSeconds: 86_400 },
    ],
    concurrency: 1,
  },
} as const

/**
 * The body of a success. A failure is `{quandl_error: {code: 'QELx04', message}}`; the third letter of the code is its
 * kind.
 */
export function bodyOf(answer: UpstreamAnswer, notFound: () => Error): JsonRecord {
  const body = record(openBody(answer, info, notFound))
  const error = body['quandl_error']
  const kind = /^QE([A-Z])/.exec(text(record(error)['code']) ?? '')?.[1]
  if (error === undefined && answer.status < 400) return body
  switch (kind) {
    case 'A':
      throw keyRejected(info)
    case 'C':
      throw notFound()
    case 'L':
      throw limitReached(info, 60)
    case 'P':
      throw new ConnectorError('key_rejected', 'The key does not give access to this at Nasdaq Data Link.', {
        provider: info.slug,
        remedy: 'own-key',
      })
    case 'X':
      throw providerDown(info)
    default:
      throw answer.status >= 400 ? refusedStatus(answer, info) : notUnderstood('an unknown kind of error')
  }
}
