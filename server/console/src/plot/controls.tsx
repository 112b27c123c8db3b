import type { Column } from '../../../client/index.ts'
import { plural } from '../format.ts'
import { updateQuery } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { type Option, Select } from '../ui/field.tsx'
import {
  AGGREGATE_NAMES,
  AGGREGATES,
  byColumns,
  isCategory,
  KINDS,
  type PlotChoice,
  ROWS,
  SIZES,
  writeYs,
  xColumns,
  yColumns,
} from './choice.ts'

const nameOf = ({ name }: Column) => name

interface ControlsProps {
  readonly columns: readonly Column[]
  readonly choice: PlotChoice
  /** Whether the columns are those of a result, which is drawn as it is. */
  readonly isResult: boolean
  readonly rowCount: number
}

/** Controls for what to draw and from how many rows. */
export function PlotControls(props: ControlsProps) {
  const { columns, choice, isResult, rowCount } = props
  const { x, ys, by, aggregate } = choice
  const aggregates = AGGREGATE_NAMES.filter((one) => one !== 'none' || !isCategory(x.type))
  const calculates = ys[0] !== ROWS && !isResult
  const select = (
    label: string,
    value: string,
    options: readonly Option[],
    changes: (value: string) => Readonly<Record<string, string>>,
  ) => <Select {...{ label, value, options }} onValue={(next) => updateQuery(changes(next))} />
  const colours = ['', by.length > 1 ? by.map(nameOf).join(' · ') : 'one colour'] as const
  const sizes = SIZES.filter((_, at) => at === 0 || SIZES[at - 1]! < rowCount).map(
    (size) => [String(size), plural(size, 'row')] as const,
  )
  return (
    <div class="plot-controls">
      {select('x axis', x.name, (isResult ? columns : xColumns(columns)).map(nameOf), (name) => ({
        x: name,
        kind: '',
        of: '',
      }))}
      <SeriesChoice {...props} />
      {ys.length === 1 &&
        select(
          'Colour by',
          by.length === 1 ? by[0]!.name : '',
          [colours, ...byColumns(columns).map(nameOf)],
          (name) => ({ by: name }),
        )}
      {calculates &&
        select(
          'Aggregate',
          aggregate,
          aggregates.map((value) => [value, AGGREGATES[value].label]),
          (of) => ({ of }),
        )}
      {select(
        'Chart type',
        choice.kind,
        KINDS.map((value) => (value === 'bar' ? [value, 'bars'] : value)),
        (kind) => ({ kind }),
      )}
      {calculates &&
        aggregate === 'none' &&
        sizes.length > 1 &&
        select('Rows at most', String(choice.size), sizes, (size) => ({ size }))}
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
