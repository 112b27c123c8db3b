import { useMemo, useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import { fetchRows, isStatus } from '../api.ts'
import type { Exploration } from '../dataset/exploration.ts'
import { isOrdered } from '../filter/syntax.ts'
import { formatCount, formatNumber, plural } from '../format.ts'
import { type Address, updateQuery } from '../router.ts'
import type { RowSource } from '../table/windows.ts'
import { Button } from '../ui/button.tsx'
import { Empty, Failure, Progress } from '../ui/feedback.tsx'
import { type Options, Select } from '../ui/field.tsx'
import { PlainTable } from '../ui/plain-table.tsx'
import { useResource } from '../ui/resource.tsx'
import { type View, viewQuery } from '../view/view.ts'
import { Chart, type ChartLook } from './chart.tsx'
import {
  AGGREGATE_NAMES,
  AGGREGATES,
  axisName,
  byColumns,
  KINDS,
  type PlotChoice,
  ROWS,
  SIZES,
  writeYs,
  xColumns,
  yColumns,
} from './choice.ts'
import { textOfX } from './draw.ts'
import { type Draw, type Drawn, drawResult, drawRows } from './sources.ts'

/** A plot of the matching rows of a dataset, or of the result of `$apply`. */
export function PlotView({ dataset, view, query, rows: { error } }: Exploration & { readonly view: View }) {
  const isResult = view.apply !== ''
  const draw = useMemo((): Draw => {
    if (!isResult) return (...how) => drawRows(dataset, view, ...how)
    const rows = { ...viewQuery(view), select: undefined }
    const fetch: RowSource['fetch'] = (page) => fetchRows(dataset.id, { ...rows, ...page })
    return (chosen, signal) => drawResult(chosen, { columns: view.columns, fetch }, signal)
  }, [dataset.version, view])
  // What is wrong with the filter is said below the filter.
  if (isStatus(error, 400)) return null
  const { name, rowCount } = dataset
  return <Plot {...{ name, rowCount, isResult, draw, query }} columns={view.columns} />
}

interface PlotProps {
  readonly name: string
  readonly columns: readonly Column[]
  /** Whether the rows are a result, which is drawn as it is. */
  readonly isResult: boolean
  readonly rowCount: number
  readonly query: Address['query']
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
      {error !== undefined && <Failure error={error} onRetry={resource.again} />}
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
  const { labels } = drawing
  const look: ChartLook = {
    drawing,
    kind: props.kind,
    xType: labels ? 'string' : choice.x.type,
    xText: textOfX(choice.x.type, labels, bin),
    xLabel: axisName(choice.x),
    yLabel: choice.ys.length > 1 ? '' : yName(choice, choice.ys[0]!),
  }
  const { series, labels: left } = drawing.omitted
  const note = [
    left > 0 && `The first ${labels?.length} of ${formatCount(labels!.length + left)} values are shown.`,
    series > 0 && `${plural(series, 'more series', 'more series')} are left out; filter to see them.`,
  ]
    .filter(Boolean)
    .join(' ')
  return (
    <>
      <Chart
        note={note}
        title={`${props.name}: ${choice.ys.map((y) => yName(choice, y)).join(', ')} by ${choice.x.name}`}
        {...look}
      />
      <p class="hint" data-testid="plot-source">
        {source} {note}
      </p>
      <Numbers {...look} />
    </>
  )
}

const MOST_NUMBERS = 200

/** The points of a chart as a table, for reading and for screen readers. */
function Numbers({ drawing: { xs, series }, xText, xLabel }: ChartLook) {
  return (
    <details class="numbers">
      <summary>The numbers</summary>
      <PlainTable
        label="The numbers"
        right={(at) => at > 0}
        head={[xLabel, ...series.map(({ name }) => name)]}
        rows={xs
          .slice(0, MOST_NUMBERS)
          .map((x, at) => [
            xText(x),
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

const nameOf = ({ name }: Column) => name

type ControlsProps = PlotProps & { readonly choice: PlotChoice }

function PlotControls(props: ControlsProps) {
  const { columns, choice, isResult, rowCount } = props
  const { x, ys, by, aggregate } = choice
  const aggregates = AGGREGATE_NAMES.filter((one) => one !== 'none' || isOrdered(x.type))
  const calculates = ys[0] !== ROWS && !isResult
  const select = (
    field: string,
    label: string,
    value: string,
    options: Options,
    more: Readonly<Record<string, string>> = {},
  ) => <Select {...{ label, value, options }} onValue={(next) => updateQuery({ [field]: next, ...more })} />
  const colours = ['', by.length > 1 ? by.map(nameOf).join(' · ') : 'one colour'] as const
  const sizes = SIZES.filter((_, at) => at === 0 || SIZES[at - 1]! < rowCount).map(
    (size) => [String(size), plural(size, 'row')] as const,
  )
  return (
    <div class="plot-controls">
      {select('x', 'x axis', x.name, (isResult ? columns : xColumns(columns)).map(nameOf), {
        kind: '',
        of: '',
      })}
      <SeriesChoice {...props} />
      {ys.length === 1 &&
        select('by', 'Colour by', by.length === 1 ? by[0]!.name : '', [
          colours,
          ...byColumns(columns).map(nameOf),
        ])}
      {calculates &&
        select(
          'of',
          'Aggregate',
          aggregate,
          aggregates.map((value) => [value, AGGREGATES[value].label]),
        )}
      {select(
        'kind',
        'Chart type',
        choice.kind,
        KINDS.map((value) => (value === 'bar' ? [value, 'bars'] : value)),
      )}
      {calculates &&
        aggregate === 'none' &&
        sizes.length > 1 &&
        select('size', 'Rows at most', String(choice.size), sizes)}
    </div>
  )
}

/** The columns upwards: the first, and further ones that can be added and removed. */
function SeriesChoice({ columns, choice, isResult }: ControlsProps) {
  const { ys } = choice
  const numbers = yColumns(columns)
  const all = isResult ? numbers : [...numbers, ROWS]
  const unused = numbers.find((column) => !ys.includes(column) && column !== choice.x)
  const change = (next: readonly Column[]) => updateQuery({ y: writeYs(next) })
  return (
    <>
      {ys.map((y, at) => (
        <div key={y.name} class="plot-series">
          <Select
            label={at === 0 ? 'y axis' : `Series ${at + 1}`}
            value={y.name}
            options={all
              .filter((column) => column === y || !ys.includes(column))
              .map((column) => (column === ROWS ? ['#', 'number of rows'] : nameOf(column)))}
            onValue={(name) => {
              const next = ys.with(at, all.find((column) => column.name === name)!)
              if (ys.length === 1) updateQuery({ y: writeYs(next), kind: '', of: '' })
              else change(next)
            }}
          />
          {ys.length > 1 && (
            <Button
              look="quiet"
              icon="close"
              label={`Leave out ${y.name}`}
              to={() => change(ys.toSpliced(at, 1))}
            />
          )}
        </div>
      ))}
      {unused && ys[0] !== ROWS && choice.by.length === 0 && (
        <Button icon="plus" look="quiet" to={() => change([...ys, unused])} says="Add a series" />
      )}
    </>
  )
}
