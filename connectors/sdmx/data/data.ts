import type { UpstreamAnswer } from '../../connector.ts'
import { Failure } from '../../failures.ts'
import { refuseFailure } from '../refusals.ts'
import { readDataCsv } from './data-csv.ts'
import { readDataJson } from './data-json.ts'
import { readDataXml } from './data-xml.ts'
import { type DataMessage, type Expected, NOTHING } from './message.ts'

/**
 * Reads a data message of any SDMX format: CSV 1.0 and 2.0 and the providers' own, JSON 1.0 and 2.0, generic and
 * structure-specific ML 2.1. The format is recognised by the body, because providers' content types aren't reliable.
 * Series that were not asked for are left out. Throws `Failure`: `no-results` if the provider says so, `unreadable` if
 * the body is none of these.
 */
export function readData(answer: UpstreamAnswer, expected: Expected): DataMessage {
  refuseFailure(answer)
  const start = /[^\s\ufeff]/.exec(answer.text)?.[0]
  if (expected.asOf !== undefined && start !== undefined && start !== '<') {
    throw new Failure('no-history', { what: 'Only SDMX-ML says since when its data are valid.' })
  }
  switch (start) {
    case undefined:
      return NOTHING
    case '<':
      return readDataXml(answer.text, expected)
    case '{':
    case '[':
      return readDataJson(answer, expected)
    default:
      return readDataCsv(answer.text, expected)
  }
}
