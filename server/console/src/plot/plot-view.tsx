import { useMemo, useState } from 'preact/hooks'
import type { Dataset } from '../../../client/index.ts'
import { formatCount, plural } from '../format.ts'
import { exactShape } from '../profile/exact.ts'
import { fetchSample, isWhole } from '../profile/sample.ts'
import { type Shape, statsOf } from '../profile/stats.ts'
import { updateQuery } from '../router.ts'
import { Empty, Failure, Progress } from '../ui/feedback.tsx'
import { latest, useResource } from '../use-resource.ts'
import { Chart } from './chart.tsx'
import { type PlotChoice, readChoice } from './choice.ts'
import { PlotControls } from './controls.tsx'
import { type Drawing, drawRows } from './group.ts'
import { Numbers } from './numbers.tsx'
import { isServerAggregate, serverDrawing } from './server-groups.ts'

interface Drawn {
  readonly choice: PlotChoice
  readonly drawing: Drawing
  /** A sentence that says from which rows the plot was made. */
  readonly source: string
}

const COUNT_SAMPLE = 2_000

/** A plot of two columns of the matching rows. */
export function PlotView(props: {
  readonly dataset: Dataset
  readonly filter: string
  readonly query: Readonly<Record<string, string>>
}) {
  const { dataset, filter, query } = props
  const choice = useMemo(
    () => readChoice(query, dataset.columns),
    [dataset, query['x'], query['y'], query['kind'], query['of'], query['size']],
  )
  const [share, setShare] = useState<number>()
  const [resource, again] = useResource(
    async (signal): Promise<Drawn | undefined> => {
      if (!choice) return undefined
      setShare(undefined)
      if (choice.y === '') return countDrawing(dataset, filter, choice, signal)
      return isServerAggregate(choice.aggregate)
        ? groupDrawing(dataset, filter, choice, signal)
        : rowDrawing(dataset, filter, choice, signal, setShare)
    },
    [dataset.id, dataset.version, filter, choice?.x, choice?.y, choice?.aggregate, choice?.size],
  )
  if (!choice) {
    return (
      <Empty icon="plot" title="Nothing to plot">
        A plot needs a column with numbers, dates or names.
      </Empty>
    )
  }
  const drawn = latest(resource)
  return (
    <div class="plot-view">
      <PlotControls
        columns={dataset.columns}
        choice={choice}
        rowCount={dataset.rowCount}
        onChange={(changes) => updateQuery(changes)}
      />
      {resource.state === 'failed' && <Failure error={resource.error} onRetry={again} />}
      {resource.state === 'loading' && <Progress label="Fetching rows for the plot" share={share} />}
      {resource.state !== 'failed' && drawn && <Picture dataset={dataset} drawn={drawn} kind={choice.kind} />}
    </div>
  )
}

function Picture(props: {
  readonly dataset: Dataset
  readonly drawn: Drawn
  readonly kind: PlotChoice['kind']
}) {
  const { drawn, dataset, kind } = props
  const { choice, drawing } = drawn
  if (drawing.points.length === 0) {
    return (
      <Empty icon="plot" title="No points">
        No row that matches has a value in both columns.
      </Empty>
    )
  }
  const yLabel = axisLabel(choice, drawing)
  const type = dataset.columns.find(({ name }) => name === choice.x)?.type ?? 'string'
  const xType = drawing.labels ? 'string' : type
  return (
    <>
      <Chart
        title={`${dataset.name}: ${yLabel} by ${choice.x}`}
        points={drawing.points}
        labels={drawing.labels}
        xType={xType}
        xLabel={choice.x}
        yLabel={yLabel}
        kind={kind}
      />
      <p class="hint" data-testid="plot-source">
        {drawn.source}
      </p>
      <Numbers drawing={drawing} xLabel={choice.x} xType={xType} yLabel={yLabel} />
    </>
  )
}

function axisLabel(choice: PlotChoice, drawing: Drawing): string {
  if (choice.y === '') return 'rows'
  if (drawing.grouping === undefined) return choice.y
  return `${choice.aggregate === 'none' ? 'mean' : choice.aggregate} of ${choice.y}`
}

/** Counts the rows in each range of x, over all rows on the server. */
async function countDrawing(
  dataset: Dataset,
  filter: string,
  choice: PlotChoice,
  signal: AbortSignal,
): Promise<Drawn> {
  const column = dataset.columns.find(({ name }) => name === choice.x)!
  const sample = await fetchSample(dataset.id, { filter, select: [choice.x], size: COUNT_SAMPLE }, signal)
  const stats = statsOf(
    column,
    sample.rows.map((row) => row[0] ?? null),
  )
  const shape = isWhole(sample) ? stats.shape : await exactShape(dataset.id, filter, stats, signal)
  return {
    choice,
    drawing: shapeDrawing(shape),
    source: `Counted over all ${plural(sample.rowCount, 'row')}${filter ? ' that match' : ''}.`,
  }
}

function shapeDrawing(shape: Shape): Drawing {
  switch (shape.kind) {
    case 'bins':
      return {
        points: shape.bins.map((bin) => ({
          x: bin.to - bin.from === 1 ? bin.from : (bin.from + bin.to) / 2,
          y: bin.count,
        })),
        labels: undefined,
        grouping: `${shape.bins.length} bins`,
      }
    case 'values': {
      const others = shape.others > 0 ? [{ value: 'all others', count: shape.others }] : []
      const bars = [...shape.values, ...others]
      return {
        points: bars.map(({ count }, x) => ({ x, y: count })),
        labels: bars.map(({ value }) => (value === '' ? 'empty text' : value)),
        grouping: 'by value',
      }
    }
    case 'none':
      return { points: [], labels: undefined, grouping: undefined }
    default:
      return shape satisfies never
  }
}

/** Aggregates y for each range of x, over all rows on the server. */
async function groupDrawing(
  dataset: Dataset,
  filter: string,
  choice: PlotChoice,
  signal: AbortSignal,
): Promise<Drawn> {
  const drawing = await serverDrawing(dataset, filter, choice, signal)
  const all = filter ? 'all rows that match' : `all ${plural(dataset.rowCount, 'row')}`
  return { choice, drawing, source: `Calculated over ${all}, ${choice.aggregate} ${drawing.grouping}.` }
}

async function rowDrawing(
  dataset: Dataset,
  filter: string,
  choice: PlotChoice,
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<Drawn> {
  const typeOf = (wanted: string) => dataset.columns.find(({ name }) => name === wanted)!.type
  const select = choice.x === choice.y ? [choice.x] : [choice.x, choice.y]
  const sample = await fetchSample(dataset.id, { filter, select, size: choice.size }, signal, onProgress)
  const rows =
    choice.x === choice.y ? sample.rows.map(([value]) => [value ?? null, value ?? null]) : sample.rows
  const drawing = drawRows(rows, typeOf(choice.x), typeOf(choice.y), choice.aggregate)
  const all = isWhole(sample)
  const base = all
    ? `From all ${plural(sample.rowCount, 'row')}${filter ? ' that match' : ''}`
    : `From a sample of ${formatCount(sample.rows.length)} of ${plural(sample.rowCount, 'row')}, in stretches at equal distances`
  const grouping = drawing.grouping
    ? `, ${choice.aggregate === 'none' ? 'mean' : choice.aggregate} ${drawing.grouping}`
    : ''
  return { choice, drawing, source: `${base}${grouping}.` }
}
