import type { UpstreamAnswer } from '../../connector.ts'
import { refuseFailure } from '../refusals.ts'
import { readDataCsv } from './data-csv.ts'
import { readDataJson } from './data-json.ts'
import { readDataXml } from './data-xml.ts'
import { type DataMessage, type Expected, NOTHING } from './message.ts'

/**
 * Reads a data message of any SDMX format: CSV 1.0 and 2.0 and the providers' own, JSON 1.0 and 2.0, JSON-stat 2.0,
 * generic and structure-specific ML 2.1. The body itself tells which it is, because providers' content types can't be
 * relied on. Series that were not asked for are left out. Throws `SdmxFailure`: `no-results` where the provider says
 * so, `unreadable` for a body that is none of these.
 */
export function readData(answer: UpstreamAnswer, expected: Expected): DataMessage {
  refuseFailure(answer)
  switch (/[^\s\ufeff]/.exec(answer.text)?.[0]) {
    case undefined:
      return NOTHING
    case '<':
      return readDataXml(answer.text, expected)
    case '{':
    case '[':
      return readDataJson(answer.text, expected)
    default:
      return readDataCsv(answer.text, expected)
  }
}
