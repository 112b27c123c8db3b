import { useState } from 'preact/hooks'
import { parsePeriod } from '../../../../connectors/periods.ts'
import { api, fetchRows } from '../api.ts'
import { type Field, rowsIn } from '../csv.ts'
import { formatNumber, plural } from '../format.ts'
import { Chart } from '../plot/chart.tsx'
import { drawingOf, numberOf } from '../plot/draw.ts'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/field.tsx'
import { PlainTable } from '../ui/plain-table.tsx'
import { Loaded, useResource } from '../ui/resource.tsx'
import type { Exploration } from './exploration.ts'

const MOST_SERIES = 200
const SHOWN = 12

/** What was revised of the series of a dataset, once it is asked for: finding it reads all versions. */
export function Revisions({ dataset }: Pick<Exploration, 'dataset'>) {
  const [isOpen, setOpen] = useState(false)
  const names = new Set(dataset.columns.map(({ name }) => name))
  const hasSeries = names.has('series_id') && names.has('value') && (names.has('date') || names.has('time'))
  if (!hasSeries) return null
  return isOpen ? (
    <Opened id={dataset.id} updatedAt={dataset.updatedAt} />
  ) : (
    <div class="revisions">
      <Button icon="plot" to={() => setOpen(true)} says="Show what was revised" />
    </div>
  )
}

function Opened({ id, updatedAt }: { readonly id: number; readonly updatedAt: string }) {
  const [chosen, setChosen] = useState<string>()
  const resource = useResource(
    async (signal) => {
      const { rows } = await fetchRows(id, { apply: 'groupby((series_id))', top: MOST_SERIES, signal })
      return rows.flatMap(([name]) => name ?? [])
    },
    [id, updatedAt],
  )
  return (
    <Loaded of={resource} label="Loading the series">
      {(series) => {
        const [first] = series
        const shown = chosen ?? first
        if (shown === undefined) return <p class="hint">There are no series yet.</p>
        return (
          <section class="revisions" aria-label="Revisions">
            <h2>First release and current value</h2>
            {series.length > 1 && (
              <Select label="Series" value={shown} options={series} onValue={setChosen} />
            )}
            <OfSeries {...{ id, updatedAt }} series={shown} />
          </section>
        )
      }}
    </Loaded>
  )
}

interface Revised {
  readonly period: string
  readonly first: number | null
  readonly now: number | null
  readonly revision: number | null
}

function OfSeries(props: { readonly id: number; readonly updatedAt: string; readonly series: string }) {
  const { id, updatedAt, series } = props
  const resource = useResource(
    async (signal) => {
      const select = 'period,first_release,value,revision'
      const query = { series: [series], select, filter: 'known_to eq null', signal }
      return (await rowsIn(await api().datasets.revisions(id, 'csv', query))).rows.map(revisedOf)
    },
    [id, updatedAt, series],
  )
  return (
    <Loaded of={resource} label="Comparing the versions">
      {(all) => {
        const revised = all.filter(({ revision }) => revision !== null && revision !== 0)
        const most = revised.toSorted((a, b) => Math.abs(b.revision!) - Math.abs(a.revision!)).slice(0, SHOWN)
        return (
          <>
            <Chart
              title={`Revisions of ${series}`}
              {...drawRevisions(all)}
              xLabel="period"
              yLabel="value"
              kind="line"
            />
            <p class="hint">
              Revised in the versions that are kept: {revised.length} of {plural(all.length, 'period')}.
            </p>
            {most.length > 0 && (
              <PlainTable
                label="Largest revisions"
                head={['Period', 'First release', 'Now', 'Revision']}
                right={(at) => at > 0}
                rows={most.map(({ period, ...numbers }) => [
                  period,
                  ...[numbers.first, numbers.now, numbers.revision].map((one) =>
                    one === null ? 'missing' : formatNumber(one),
                  ),
                ])}
              />
            )}
          </>
        )
      }}
    </Loaded>
  )
}

function revisedOf([period, ...fields]: readonly Field[]): Revised {
  const [first = null, now = null, revision = null] = fields.map((one) => (one == null ? null : Number(one)))
  return { period: period ?? '', first, now, revision }
}

/** The first release of each period beside its current value, from the day or the time at which the period begins. */
function drawRevisions(all: readonly Revised[]) {
  const isTimed = all.some(({ period }) => period.includes('T'))
  const xType = isTimed ? 'timestamp' : 'date'
  const placed = all.map((one) => ({
    ...one,
    x: numberOf(isTimed ? one.period : parsePeriod(one.period)?.date, xType) ?? Number.NaN,
  }))
  const drawing = drawingOf([
    ...placed.map(({ x, first }) => ({ x, series: 'first release', y: first })),
    ...placed.map(({ x, now }) => ({ x, series: 'now', y: now })),
  ])
  const periods = new Map(placed.map(({ x, period }) => [x, period]))
  return { drawing, xType, xText: (x: number) => periods.get(x) ?? '' }
}
