import type { Column } from '../../../client/index.ts'
import { formatCount } from '../format.ts'
import { Select } from '../ui/field.tsx'
import { AGGREGATES, isCategory, KINDS, type PlotChoice, SIZES, xColumns, yColumns } from './choice.ts'
import { isServerAggregate } from './server-groups.ts'

const AGGREGATE_LABELS = {
  none: 'every row',
  mean: 'mean',
  median: 'median',
  sum: 'sum',
  min: 'lowest',
  max: 'highest',
} as const

/** Controls for what to draw and from how many rows. */
export function PlotControls(props: {
  readonly columns: readonly Column[]
  readonly choice: PlotChoice
  readonly rowCount: number
  readonly onChange: (changes: Readonly<Record<string, string>>) => void
}) {
  const { columns, choice, onChange } = props
  const xType = columns.find(({ name }) => name === choice.x)?.type ?? 'string'
  const aggregates = AGGREGATES.filter((aggregate) => aggregate !== 'none' || !isCategory(xType))
  const toOption = ({ name }: Column) => ({ value: name, label: name })
  return (
    <div class="plot-controls">
      <Select
        label="x axis"
        value={choice.x}
        options={xColumns(columns).map(toOption)}
        onValue={(x) => onChange({ x, kind: '', of: '' })}
      />
      <Select
        label="y axis"
        value={choice.y === '' ? '#' : choice.y}
        options={[...yColumns(columns).map(toOption), { value: '#', label: 'number of rows' }]}
        onValue={(y) => onChange({ y, kind: '', of: '' })}
      />
      {choice.y !== '' && (
        <Select
          label="Aggregate"
          value={choice.aggregate === 'none' && isCategory(xType) ? 'mean' : choice.aggregate}
          options={aggregates.map((value) => ({ value, label: AGGREGATE_LABELS[value] }))}
          onValue={(of) => onChange({ of })}
        />
      )}
      <Select
        label="Chart type"
        value={choice.kind}
        options={KINDS.map((value) => ({ value, label: value === 'bar' ? 'bars' : value }))}
        onValue={(kind) => onChange({ kind })}
      />
      {choice.y !== '' && !isServerAggregate(choice.aggregate) && props.rowCount > SIZES[0] && (
        <Select
          label="Rows at most"
          value={String(choice.size)}
          options={SIZES.filter((_, at) => at === 0 || SIZES[at - 1]! < props.rowCount).map((size) => ({
            value: String(size),
            label: `${formatCount(size)} rows`,
          }))}
          onValue={(size) => onChange({ size })}
        />
      )}
    </div>
  )
}
