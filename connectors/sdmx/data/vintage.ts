import { Failure } from '../../failures.ts'
import type { DataMessage, DataSeries, RawObservation } from './message.ts'

/** A data set of an answer with the history of its data. */
export interface Dissemination<DataSet> {
  readonly dataSet: DataSet
  /** `Delete` if its observations were withdrawn. */
  readonly action: string | undefined
  /** ISO 8601, with the offset of the provider. */
  readonly validFrom: string | undefined
  readonly validTo: string | undefined
}

/**
 * The data sets that had been disseminated by the end of a day, in the provider's own time, newest first. An answer to
 * `includeHistory=true` has one data set for what each dissemination added or revised, valid from then on, and one for
 * what it withdrew, valid until then: https://github.com/sdmx-twg/sdmx-rest/blob/master/doc/data.md. Throws
 * `no-history` if there is none, which also holds for a provider that does not say since when its data are valid.
 */
export function disseminatedBy<DataSet>(
  day: string,
  all: readonly Dissemination<DataSet>[],
): readonly { readonly dataSet: DataSet; readonly withdrawn: boolean }[] {
  const known = all.flatMap(({ dataSet, action, validFrom, validTo }) => {
    const withdrawn = action === 'Delete'
    const since = withdrawn ? validTo : validFrom
    return since === undefined || since.slice(0, day.length) > day ? [] : [{ dataSet, withdrawn, since }]
  })
  if (known.length === 0) throw new Failure('no-history', { what: 'No data set was valid on that day.' })
  return known.sort((a, b) => Date.parse(b.since) - Date.parse(a.since))
}

/** Of several observations of one period only the first, and none if that one was withdrawn. */
export function firstOfEach(message: DataMessage): DataMessage {
  const series = message.series.map((one): DataSeries => {
    const first = new Map<string, RawObservation>()
    for (const observation of one.observations) {
      if (!first.has(observation.period)) first.set(observation.period, observation)
    }
    return { ...one, observations: [...first.values()].filter(({ withdrawn }) => !withdrawn) }
  })
  return { ...message, series }
}
