import { useEffect, useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import { messageOf } from '../api.ts'
import { Button } from '../ui/button.tsx'
import { Note } from '../ui/feedback.tsx'
import { Field, Select } from '../ui/field.tsx'
import {
  type Grouping,
  type Key,
  METHODS,
  methodsFor,
  PARTS,
  partsFor,
  readGrouping,
  type Sum,
  writeGrouping,
} from './grouping.ts'

interface GroupProps {
  readonly columns: readonly Column[]
  /** The text in effect. */
  readonly apply: string
  /** The server's error; undefined if there is none. */
  readonly error: unknown
  readonly onApply: (apply: string) => void
}

/** A form that groups and aggregates, and the `$apply` that it writes. Every change takes effect at once. */
export function GroupBuilder(props: GroupProps) {
  const { columns, apply } = props
  const [grouping, setGrouping] = useState(() => readGrouping(apply, columns))
  useEffect(() => {
    // The form's own changes come back as `apply`. Only changes made elsewhere may replace what the user is editing.
    setGrouping((before) =>
      before && writeGrouping(before) === apply ? before : readGrouping(apply, columns),
    )
  }, [apply, columns])
  const change = (next: Grouping) => {
    setGrouping(next)
    props.onApply(writeGrouping(next))
  }
  return (
    <>
      {grouping ? (
        <Lines columns={columns} grouping={grouping} onChange={change} />
      ) : (
        <Note>This text is too complex for the form. Edit it as text, or clear it to start again.</Note>
      )}
      <ApplyText {...props} />
    </>
  )
}

function Lines(props: {
  readonly columns: readonly Column[]
  readonly grouping: Grouping
  readonly onChange: (grouping: Grouping) => void
}) {
  const { columns, grouping } = props
  const { keys, sums } = grouping
  const unused = columns.find((column) => !keys.some((key) => key.column === column.name))
  const setKeys = (next: readonly Key[]) => props.onChange({ keys: next, sums })
  const setSums = (next: readonly Sum[]) => props.onChange({ keys, sums: next })
  return (
    <fieldset class="builder">
      <legend class="visually-hidden">Group and sum</legend>
      {keys.map((key, at) => (
        <KeyLine
          key={at}
          lead={at === 0 ? 'group by' : 'then by'}
          value={key}
          columns={columns}
          onChange={(changed) => setKeys(keys.with(at, changed))}
          onRemove={() => setKeys(keys.toSpliced(at, 1))}
        />
      ))}
      {sums.map((sum, at) => (
        <SumLine
          key={at}
          lead={at === 0 ? 'calculate' : 'and'}
          value={sum}
          columns={columns}
          onChange={(changed) => setSums(sums.with(at, changed))}
          onRemove={() => setSums(sums.toSpliced(at, 1))}
        />
      ))}
      <div class="actions">
        <Button
          icon="plus"
          look="small"
          disabled={!unused}
          onClick={() => unused && setKeys([...keys, { column: unused.name, part: '' }])}
        >
          Group by a column
        </Button>
        <Button icon="plus" look="small" onClick={() => setSums([...sums, nextSum(sums, columns)])}>
          Calculate something
        </Button>
      </div>
    </fieldset>
  )
}

interface LineProps<T> {
  readonly lead: string
  readonly value: T
  readonly columns: readonly Column[]
  readonly onChange: (value: T) => void
  readonly onRemove: () => void
}

function KeyLine({ lead, value, columns, onChange, onRemove }: LineProps<Key>) {
  const parts = partsFor(typeOf(columns, value.column))
  const chooseColumn = (column: string) => {
    const keeps = partsFor(typeOf(columns, column)).includes(value.part)
    onChange({ column, part: keeps ? value.part : '' })
  }
  return (
    <div class="builder-line">
      <span class="builder-lead">{lead}</span>
      <Button look="quiet" icon="close" label={`Do not group by ${value.column}`} onClick={onRemove} />
      <Select
        label="Column to group by"
        hideLabel
        value={value.column}
        options={columns.map(({ name }) => name)}
        onValue={chooseColumn}
      />
      {parts.length > 1 && (
        <Select
          label={`Part of ${value.column}`}
          hideLabel
          value={value.part}
          options={parts.map((part) => ({ value: part, label: PARTS[part] }))}
          onValue={(part) => onChange({ ...value, part })}
        />
      )}
    </div>
  )
}

function SumLine({ lead, value, columns, onChange, onRemove }: LineProps<Sum>) {
  const counts = value.method === 'count'
  const methods = methodsFor(typeOf(columns, value.column))
  const choose = (chosen: string) => {
    const column = chosen === '#' ? undefined : columns[Number(chosen)]
    if (!column) return onChange({ column: '', method: 'count' })
    const possible = methodsFor(column.type)
    onChange({
      column: column.name,
      method: possible.includes(value.method) ? value.method : possible[0]!,
    })
  }
  const what = counts ? METHODS.count : `${METHODS[value.method]} of ${value.column}`
  return (
    <div class="builder-line">
      <span class="builder-lead">{lead}</span>
      <Button look="quiet" icon="close" label={`Do not calculate ${what}`} onClick={onRemove} />
      <Select
        label="What is calculated"
        hideLabel
        // A column may have any name, also '#', so its index is the option's value.
        value={counts ? '#' : String(columns.findIndex(({ name }) => name === value.column))}
        options={[
          { value: '#', label: METHODS.count },
          ...columns.map(({ name }, at) => ({ value: String(at), label: name })),
        ]}
        onValue={choose}
      />
      {!counts && (
        <Select
          label={`Calculation for ${value.column}`}
          hideLabel
          value={value.method}
          options={methods.map((method) => ({ value: method, label: METHODS[method] }))}
          onValue={(method) => onChange({ ...value, method })}
        />
      )}
    </div>
  )
}

/** The text of `$apply`, which the form writes and the user can edit. It takes effect on Enter, and when it is left. */
function ApplyText({ apply, error, onApply }: GroupProps) {
  const [text, setText] = useState(apply)
  useEffect(() => setText(apply), [apply])
  const take = (next: string) => {
    setText(next)
    if (next !== apply) onApply(next)
  }
  return (
    <div class="apply-text">
      <Field
        label="$apply"
        lines={3}
        plain
        placeholder="groupby((…),aggregate(…)): use the form above, or type it here"
        value={text}
        error={text.trim() === apply && error !== undefined ? messageOf(error) : undefined}
        onValue={(next) => setText(next.replaceAll('\n', ' '))}
        onDone={(next) => take(next.trim())}
      />
      {text !== '' && (
        <Button look="small" onClick={() => take('')}>
          Show the rows again
        </Button>
      )}
    </div>
  )
}

/** The suggestion for the next aggregate: first the row count, then the sum of each numeric column in turn. */
function nextSum(sums: readonly Sum[], columns: readonly Column[]): Sum {
  if (sums.length === 0) return { column: '', method: 'count' }
  const numbers = columns.filter(({ type }) => methodsFor(type).includes('sum'))
  const column = numbers.find(({ name }) => !sums.some((sum) => sum.column === name)) ?? numbers[0]
  return column ? { column: column.name, method: 'sum' } : { column: '', method: 'count' }
}

function typeOf(columns: readonly Column[], name: string): string {
  return columns.find((column) => column.name === name)?.type ?? 'string'
}
