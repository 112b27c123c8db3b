import { useMemo, useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import { isStatus } from '../api.ts'
import type { RowWindow } from '../csv.ts'
import { formatCount, formatNumber, plural } from '../format.ts'
import { type CountedDataset, fetchRows, type RowsOf, whereOf } from '../rows.ts'
import type { RowSource } from '../table/windows.ts'
import { Empty, Failure, Progress } from '../ui/feedback.tsx'
import { PlainTable } from '../ui/plain-table.tsx'
import { useResource } from '../ui/resource.tsx'
import { type View, viewQuery } from '../view/view.ts'
import { Chart } from './chart.tsx'
import { axisName, KINDS, type PlotChoice, ROWS, readChoice, readResultChoice } from './choice.ts'
import { PlotControls } from './controls.tsx'
import { cellsOf, type Drawing, drawingOf, textOfX } from './draw.ts'
import { groupedCells } from './groups.ts'

const MOST_RESULT_ROWS = 2_000

/** What is drawn, and a sentence that says from which rows. */
interface Drawn {
  readonly choice: PlotChoice
  readonly drawing: Drawing
  readonly source: string
  readonly bin?: number | undefined
}

type Query = Readonly<Record<string, string>>

/** Draws what the address chooses; null if there is nothing to draw. */
export type Draw = (
  query: Query,
  signal: AbortSignal,
  onProgress: (share: number) => void,
) => Promise<Drawn | null>

/** A plot of the matching rows of a dataset, or of the result of `$apply`. */
export function PlotView(props: {
  readonly dataset: CountedDataset
  readonly view: View
  readonly query: Query
}) {
  const { dataset, view, query } = props
  const isResult = view.apply !== ''
  const draw = useMemo((): Draw => {
    if (!isResult) return (...how) => drawRows(dataset, view, ...how)
    const rows = { ...viewQuery(view), select: undefined }
    const fetch: RowSource['fetch'] = (place) => fetchRows(dataset.id, { ...rows, ...place })
    return (chosen, signal) => drawResult(chosen, { columns: view.columns, fetch }, signal)
  }, [dataset.version, view])
  const { name, rowCount } = dataset
  return <Plot {...{ name, rowCount, isResult, draw, query }} columns={view.columns} />
}

interface PlotProps {
  readonly name: string
  readonly columns: readonly Column[]
  /** Whether the rows are a result, which is drawn as it is. */
  readonly isResult: boolean
  readonly rowCount: number
  readonly query: Query
  readonly draw: Draw
}

/** A plot with the controls for what is drawn. */
export function Plot(props: PlotProps) {
  const { query, draw } = props
  const [share, setShare] = useState<number>()
  const resource = useResource(
    (signal) => {
      setShare(undefined)
      return draw(query, signal, setShare)
    },
    [draw, query['x'], query['y'], query['by'], query['of'], query['size']],
  )
  const { value: drawn, error } = resource
  if (drawn === null) {
    return (
      <Empty icon="plot" title="Nothing to plot">
        A plot needs a column with numbers, dates or names. Group and sum the rows to make one.
      </Empty>
    )
  }
  const kind = KINDS.find((known) => known === query['kind']) ?? drawn?.choice.kind ?? 'line'
  return (
    <div class="plot-view">
      {drawn && <PlotControls {...props} choice={{ ...drawn.choice, kind }} />}
      {/* What is wrong with the filter is said below the filter. */}
      {error !== undefined && !isStatus(error, 400) && <Failure error={error} onRetry={resource.again} />}
      {resource.loading && <Progress label="Fetching rows for the plot" share={share} />}
      {error === undefined && drawn && <Picture name={props.name} drawn={drawn} kind={kind} />}
    </div>
  )
}

function Picture(props: { readonly name: string; readonly drawn: Drawn; readonly kind: PlotChoice['kind'] }) {
  const { choice, drawing, source, bin } = props.drawn
  if (drawing.xs.length === 0) {
    return (
      <Empty icon="plot" title="No points">
        No row that matches has a value in both columns.
      </Empty>
    )
  }
  const yLabel = choice.ys.length > 1 ? '' : yName(choice, choice.ys[0]!)
  const xLabel = axisName(choice.x)
  const { labels } = drawing
  const xText = textOfX(choice.x.type, labels, bin)
  return (
    <>
      <Chart
        title={`${props.name}: ${choice.ys.map((y) => yName(choice, y)).join(', ')} by ${choice.x.name}`}
        drawing={drawing}
        xType={labels ? 'string' : choice.x.type}
        xText={xText}
        xLabel={xLabel}
        yLabel={yLabel}
        kind={props.kind}
      />
      <p class="hint" data-testid="plot-source">
        {source}
        {drawing.omitted.labels > 0 && ` The first ${labels?.length} values are shown.`}
        {drawing.omitted.series > 0 &&
          ` ${plural(drawing.omitted.series, 'more series', 'more series')} are left out; filter to see them.`}
      </p>
      <Numbers drawing={drawing} xText={xText} xLabel={xLabel} />
    </>
  )
}

const MOST_NUMBERS = 200

/** The points of a chart as a table, for reading and for screen readers. */
function Numbers(props: {
  readonly drawing: Drawing
  readonly xText: (x: number) => string
  readonly xLabel: string
}) {
  const { xs, series } = props.drawing
  return (
    <details class="numbers">
      <summary>The numbers</summary>
      <PlainTable
        label="The numbers"
        right={(at) => at > 0}
        head={[props.xLabel, ...series.map(({ name }) => name)]}
        rows={xs
          .slice(0, MOST_NUMBERS)
          .map((x, at) => [
            props.xText(x),
            ...series.map(({ ys }) => (ys[at] == null ? '' : formatNumber(ys[at]))),
          ])}
      />
      {xs.length > MOST_NUMBERS && (
        <p class="hint">And {formatCount(xs.length - MOST_NUMBERS)} more. Download the rows for all.</p>
      )}
    </details>
  )
}

function yName({ aggregate, ys }: PlotChoice, y: Column): string {
  return aggregate === 'none' || ys[0] === ROWS ? axisName(y) : `${aggregate} of ${axisName(y)}`
}

/** Draws each row of a result. */
export async function drawResult(
  query: Query,
  { columns, fetch }: RowSource,
  signal: AbortSignal,
): Promise<Drawn | null> {
  const answer = await fetch({ skip: 0, top: MOST_RESULT_ROWS, signal })
  const choice = readResultChoice(query, columns, answer.rows)
  if (!choice) return null
  const all = answer.rows.length === answer.rowCount
  const source = all
    ? `All ${plural(answer.rowCount, 'row')} of the result.`
    : `The first ${plural(answer.rows.length, 'row')} of the ${formatCount(answer.rowCount)} in the result, in the order of the table.`
  return { choice, drawing: drawingOf(cellsOf(choice, columns, answer.rows)), source }
}

/** Draws the rows themselves, or what the server calculates of them. */
async function drawRows(
  dataset: CountedDataset,
  view: View,
  query: Query,
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<Drawn | null> {
  const choice = readChoice(query, view.columns)
  if (!choice) return null
  const { x, ys, by, aggregate } = choice
  const narrowed = view.filter !== '' || view.search !== ''
  if (aggregate !== 'none' || ys[0] === ROWS) {
    const { cells, grouping, bin } = await groupedCells(dataset, view, choice, signal)
    const rows = narrowed ? 'all rows that match' : `all ${plural(dataset.rowCount, 'row')}`
    const how = ys[0] === ROWS ? grouping : `${aggregate} ${grouping}`
    const source = `${ys[0] === ROWS ? 'Counted' : 'Calculated'} over ${rows}, ${how}.`
    return { choice, drawing: drawingOf(cells), source, bin }
  }
  const wanted = [...new Set([x, ...ys, ...by])]
  const select = wanted.map(({ name }) => name)
  const sample = await fetchSample(dataset.id, view, select, choice.size, signal, onProgress)
  const source =
    sample.rows.length >= sample.rowCount
      ? `From all ${plural(sample.rowCount, 'row')}${narrowed ? ' that match' : ''}.`
      : `From a sample of ${formatCount(sample.rows.length)} of ${plural(sample.rowCount, 'row')}, in stretches at equal distances.`
  const cells = cellsOf(choice, wanted, sample.rows).filter(({ y }) => y !== null)
  return { choice, drawing: drawingOf(cells), source }
}

const STRIPES = 20

/**
 * Fetches all rows if they are at most `size`, else stripes of rows at equal distances. The first rows alone would not
 * be representative, because most tables grow in the order of time.
 */
async function fetchSample(
  datasetId: number,
  of: RowsOf,
  select: readonly string[],
  size: number,
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<RowWindow> {
  const stripe = Math.floor(size / STRIPES)
  const ask = (skip: number, top: number) =>
    fetchRows(datasetId, { ...whereOf(of), select, skip, top, signal })
  const first = await ask(0, stripe)
  const { rowCount } = first
  const rows = [...first.rows]
  if (rowCount <= size) {
    if (rowCount > stripe) rows.push(...(await ask(stripe, rowCount - stripe)).rows)
    return { ...first, rows }
  }
  for (let at = 1; at < STRIPES; at += 1) {
    const skip = Math.floor(((rowCount - stripe) * at) / (STRIPES - 1))
    rows.push(...(await ask(skip, stripe)).rows)
    onProgress((at + 1) / STRIPES)
  }
  return { ...first, rows }
}
