import type { SeriesInfo, SeriesPage } from '../../connector.ts'
import { Failure } from '../../failures.ts'
import { parsePeriod } from '../../periods.ts'
import type { DataSeries } from '../data/message.ts'
import type { Session } from '../provider.ts'
import { nameOf, namesFrom, unitOf } from '../series/describe.ts'
import { frequencyOf, namedFrequency } from '../series/frequency.ts'
import { attempt } from '../session.ts'
import { flowName, flowStructure, qualified } from '../structures/flow-structure.ts'
import { parsePath } from './flow-path.ts'
import { keysOf } from './series-keys.ts'
import { browse } from './tree.ts'

/** The series below a dataflow or a part of it, in the order of their keys; none for paths above the dataflows. */
export async function list(
  session: Session,
  path: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<SeriesPage> {
  const flowPath = parsePath(path)
  if (!flowPath) {
    await browse(session, path)
    return { total: 0, series: [] }
  }
  const flow = await qualified(session, flowPath.flow)
  const structure = await attempt(flowStructure(session, flow))
  const message = await keysOf(session, flow, structure, flowPath.codes)
  if (structure === undefined && !message.certain && message.series.length > 0) {
    throw new Failure('unavailable', {
      what: 'The structure that says which columns are dimensions is missing.',
    })
  }
  const names = namesFrom(message.labels, structure)
  const heading = structure?.flow.name ?? message.name ?? (await flowName(session, flow))
  const { provider } = session
  const info = (one: DataSeries): SeriesInfo => ({
    series_id: `${flowPath.text}/${one.key.join('.')}`,
    name: nameOf(one, message.dimensions, heading, names),
    frequency: frequencyOf(one.observations, namedFrequency(one, names, provider.info.slug)).name,
    unit: unitOf(one, names, provider, provider.multiplier?.(flow) ?? 'named'),
    ...extentOf(one),
  })
  const sorted = message.series.map((one) => ({ one, name: one.key.join('.') })).sort(byName)
  return {
    total: sorted.length,
    series: sorted.slice(page.offset, page.offset + page.limit).map(({ one }) => info(one)),
  }
}

/**
 * First and last date, if the answer contains observations; a single observation is the last one, so only the end is
 * known.
 */
function extentOf({ observations }: DataSeries): { start: string | null; end: string | null } {
  const dates = observations.flatMap(({ period }) => parsePeriod(period)?.date ?? []).sort()
  return { start: dates.length > 1 ? dates[0]! : null, end: dates.at(-1) ?? null }
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : Number(a.name > b.name)
}
