import type { UpstreamAnswer } from '../../connector.ts'
import { ConnectorError } from '../../errors.ts'
import { absent, Failure, notUnderstood } from '../../failures.ts'
import { type JsonRecord, openBody, record, refusedStatus, text } from '../../read.ts'

/**
 * The body of a success. A failure is `{quandl_error: {code: 'QELx04', message}}`; the third letter of the code is its
 * kind.
 */
export function bodyOf(answer: UpstreamAnswer): JsonRecord {
  const body = record(openBody(answer))
  const error = body['quandl_error']
  const kind = /^QE([A-Z])/.exec(text(record(error)['code']) ?? '')?.[1]
  if (error === undefined && answer.status < 400) return body
  switch (kind) {
    case 'A':
      throw new Failure('bad-key')
    case 'C':
      throw absent()
    case 'L':
      throw new Failure('limited')
    case 'P':
      throw new ConnectorError('key_rejected', 'The key does not give access to this at Nasdaq Data Link.', {
        remedy: 'own-key',
      })
    case 'X':
      throw new Failure('failing')
    default:
      throw answer.status >= 400 ? refusedStatus(answer) : notUnderstood('an unknown kind of error')
  }
}
