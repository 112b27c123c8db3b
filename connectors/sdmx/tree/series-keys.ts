import type { UpstreamAnswer } from '../../connector.ts'
import { Failure } from '../../failures.ts'
import { readData } from '../data/data.ts'
import { type DataMessage, type DataSeries, NOTHING } from '../data/message.ts'
import type { FlowReference } from '../flow-reference.ts'
import type { KeyPattern } from '../keys.ts'
import type { Session } from '../provider.ts'
import { wide } from '../session.ts'
import { type FlowStructure, fetchCodes } from '../structures/flow-structure.ts'

/** An answer with the series keys below a path. Without a structure the whole dataflow is read and filtered here. */
export async function keysOf(
  session: Session,
  flow: FlowReference,
  structure: FlowStructure | undefined,
  codes: readonly string[],
): Promise<DataMessage> {
  const dimensions = structure?.dimensions.map(({ id }) => id)
  if (dimensions && codes.length > dimensions.length)
    throw new Failure('no-results', { what: 'The key has fewer parts.' })
  const pattern: KeyPattern | undefined = dimensions?.map((_, i) => (codes[i] ? [codes[i]] : []))
  try {
    const request = session.provider.requests.keys(flow, pattern ?? [[]])
    const read = (answer: UpstreamAnswer) => readData(answer, { pattern, dimensions })
    // All pages of a list are cut from one cached answer. Without a structure the answer may be misread, so it isn't
    // cached.
    const answer = dimensions ? session.cached(request, read) : session.send(request).then(read)
    const message = await wide(session, answer)
    const isBelow = ({ key }: DataSeries) => codes.every((code, i) => code === '' || key[i] === code)
    return { ...message, series: message.series.filter(isBelow) }
  } catch (error) {
    const isEmpty = structure && error instanceof Failure && error.kind === 'no-results'
    if (!isEmpty) throw error
    await refuseUnknownCode(session, structure, codes)
    return NOTHING
  }
}

/** Throws `no-results` for a code that isn't in the codelist; if there is no codelist, any code is accepted. */
export async function refuseUnknownCode(
  session: Session,
  { dimensions, structures }: FlowStructure,
  codes: readonly string[],
): Promise<void> {
  for (const [i, code] of codes.entries()) {
    const known = code === '' ? undefined : await fetchCodes(session, dimensions[i]!, structures)
    if (known && !known.some(({ id }) => id === code))
      throw new Failure('no-results', { what: 'There is no such code.' })
  }
}
