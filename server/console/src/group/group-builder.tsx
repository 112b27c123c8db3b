import { useEffect, useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import { Note } from '../ui/feedback.tsx'
import { Select } from '../ui/field.tsx'
import { Icon } from '../ui/icons.tsx'
import {
  type Grouping,
  type Key,
  type Method,
  methodsFor,
  type Part,
  partsFor,
  readGrouping,
  type Sum,
  writeGrouping,
} from './grouping.ts'

const PART_LABELS: Readonly<Record<Part, string>> = {
  '': 'each value',
  year: 'year',
  month: 'month of the year',
  day: 'day of the month',
  date: 'day',
  hour: 'hour',
}

const METHOD_LABELS: Readonly<Record<Method, string>> = {
  count: 'number of rows',
  sum: 'sum',
  average: 'mean',
  median: 'median',
  min: 'lowest',
  max: 'highest',
  stdev: 'standard deviation',
  countdistinct: 'different values',
  first: 'first',
  last: 'last',
}

/** A form that groups and aggregates. Every change is written as `$apply` and takes effect at once. */
export function GroupBuilder(props: {
  readonly columns: readonly Column[]
  readonly apply: string
  readonly onApply: (apply: string) => void
}) {
  const { columns } = props
  const [grouping, setGrouping] = useState(() => readGrouping(props.apply, columns))
  useEffect(() => {
    // The form's own changes come back as `apply`. Only changes made elsewhere may replace what the user is editing.
    setGrouping((before) =>
      before && writeGrouping(before) === props.apply ? before : readGrouping(props.apply, columns),
    )
  }, [props.apply, columns])

  if (!grouping) {
    return <Note>This text is too complex for the form. Edit it as text, or clear it to start again.</Note>
  }
  const change = (next: Partial<Grouping>) => {
    const changed = { ...grouping, ...next }
    setGrouping(changed)
    props.onApply(writeGrouping(changed))
  }
  const { keys, sums } = grouping
  const unused = columns.find((column) => !keys.some((key) => key.column === column.name))
  return (
    <fieldset class="builder group-builder">
      <legend class="visually-hidden">Group and sum</legend>
      {keys.map((key, at) => (
        <KeyLine
          key={at}
          lead={at === 0 ? 'group by' : 'then by'}
          value={key}
          columns={columns}
          onChange={(changed) => change({ keys: keys.with(at, changed) })}
          onRemove={() => change({ keys: keys.toSpliced(at, 1) })}
        />
      ))}
      {sums.map((sum, at) => (
        <SumLine
          key={at}
          lead={at === 0 ? 'calculate' : 'and'}
          value={sum}
          columns={columns}
          onChange={(changed) => change({ sums: sums.with(at, changed) })}
          onRemove={() => change({ sums: sums.toSpliced(at, 1) })}
        />
      ))}
      <div class="actions">
        <button
          type="button"
          class="button button-small"
          disabled={!unused}
          onClick={() => unused && change({ keys: [...keys, { column: unused.name, part: '' }] })}
        >
          <Icon name="plus" />
          <span>Group by a column</span>
        </button>
        <button
          type="button"
          class="button button-small"
          onClick={() => change({ sums: [...sums, nextSum(sums, columns)] })}
        >
          <Icon name="plus" />
          <span>Calculate something</span>
        </button>
      </div>
    </fieldset>
  )
}

function KeyLine(props: {
  readonly lead: string
  readonly value: Key
  readonly columns: readonly Column[]
  readonly onChange: (key: Key) => void
  readonly onRemove: () => void
}) {
  const { value, columns } = props
  const parts = partsFor(typeOf(columns, value.column))
  return (
    <div class="builder-line">
      <span class="builder-lead">{props.lead}</span>
      <Select
        label="Column to group by"
        hideLabel
        value={value.column}
        options={columns.map(({ name }) => ({ value: name, label: name }))}
        onValue={(column) => {
          const keeps = partsFor(typeOf(columns, column)).includes(value.part)
          props.onChange({ column, part: keeps ? value.part : '' })
        }}
      />
      {parts.length > 1 && (
        <Select
          label={`Part of ${value.column}`}
          hideLabel
          value={value.part}
          options={parts.map((part) => ({ value: part, label: PART_LABELS[part] }))}
          onValue={(part) => props.onChange({ ...value, part })}
        />
      )}
      <RemoveButton what={`Do not group by ${value.column}`} onClick={props.onRemove} />
    </div>
  )
}

function SumLine(props: {
  readonly lead: string
  readonly value: Sum
  readonly columns: readonly Column[]
  readonly onChange: (sum: Sum) => void
  readonly onRemove: () => void
}) {
  const { value, columns } = props
  const counts = value.method === 'count'
  const methods = methodsFor(typeOf(columns, value.column))
  return (
    <div class="builder-line">
      <span class="builder-lead">{props.lead}</span>
      <Select
        label="What is calculated"
        hideLabel
        // A column may have any name, also '#', so its index is the option's value.
        value={counts ? '#' : String(columns.findIndex(({ name }) => name === value.column))}
        options={[
          { value: '#', label: METHOD_LABELS.count },
          ...columns.map(({ name }, at) => ({ value: String(at), label: name })),
        ]}
        onValue={(chosen) => {
          const column = chosen === '#' ? undefined : columns[Number(chosen)]
          if (!column) return props.onChange({ column: '', method: 'count' })
          const possible = methodsFor(column.type)
          const method = possible.includes(value.method) ? value.method : possible[0]!
          props.onChange({ column: column.name, method })
        }}
      />
      {!counts && (
        <Select
          label={`Calculation for ${value.column}`}
          hideLabel
          value={value.method}
          options={methods.map((method) => ({ value: method, label: METHOD_LABELS[method] }))}
          onValue={(method) => props.onChange({ ...value, method })}
        />
      )}
      <RemoveButton
        what={`Do not calculate ${counts ? METHOD_LABELS.count : `${METHOD_LABELS[value.method]} of ${value.column}`}`}
        onClick={props.onRemove}
      />
    </div>
  )
}

function RemoveButton(props: { readonly what: string; readonly onClick: () => void }) {
  return (
    <button
      type="button"
      class="button button-quiet button-icon"
      aria-label={props.what}
      title={props.what}
      onClick={props.onClick}
    >
      <Icon name="close" />
    </button>
  )
}

/** The suggestion for the next aggregate: first the row count, then the sum of each numeric column in turn. */
function nextSum(sums: readonly Sum[], columns: readonly Column[]): Sum {
  if (sums.length === 0) return { column: '', method: 'count' }
  const numbers = columns.filter(({ type }) => familyIsNumber(type))
  const column = numbers.find(({ name }) => !sums.some((sum) => sum.column === name)) ?? numbers[0]
  return column ? { column: column.name, method: 'sum' } : { column: '', method: 'count' }
}

function familyIsNumber(type: string): boolean {
  return methodsFor(type).includes('sum')
}

function typeOf(columns: readonly Column[], name: string): string {
  return columns.find((column) => column.name === name)?.type ?? 'string'
}
