import type { UpstreamAnswer } from '../../connector.ts'
import { refuseFailure } from '../refusals.ts'
import type { Structures } from './model.ts'
import { readStructuresJson } from './structures-json.ts'
import { readStructuresXml } from './structures-xml.ts'

/**
 * Reads SDMX-ML (2.1 and 3.0) and SDMX-JSON (1.0 and 2.0) structure messages. The format is recognised by the body,
 * because providers' content types aren't reliable. Throws `SdmxFailure`: `no-results` if there is no such structure,
 * `unreadable` if the body is neither.
 */
export function readStructures(answer: UpstreamAnswer): Structures {
  refuseFailure(answer)
  return /^\s*[[{]/.test(answer.text) ? readStructuresJson(answer.text) : readStructuresXml(answer.text)
}
