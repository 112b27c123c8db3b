import { useEffect, useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import { ApplyRefused, type Exploration } from '../dataset/exploration.ts'
import { typeOf } from '../filter/syntax.ts'
import { Button } from '../ui/button.tsx'
import { Note } from '../ui/feedback.tsx'
import { Field, Select } from '../ui/field.tsx'
import { BuilderLines, useWritten } from '../ui/form.tsx'
import { setApply } from '../view/view.ts'
import {
  beyondForm,
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

/** A form that groups and aggregates, and the `$apply` that it writes. Every change takes effect at once. */
export function GroupBuilder(exploration: Exploration) {
  const { columns } = exploration.dataset
  const [grouping, setGrouping] = useWritten(exploration.apply, columns, readGrouping, writeGrouping)
  const change = (next: Partial<Grouping>) => {
    const changed = { ...grouping!, ...next }
    setGrouping(changed)
    setApply(writeGrouping(changed))
  }
  return (
    <>
      {grouping ? (
        <Lines {...{ columns, ...grouping, change }} />
      ) : (
        <Note>
          The form can’t show {beyondForm(exploration.apply, columns)}: it has one groupby(…) of columns and
          parts of dates, with a calculation for each line. Edit the text, or clear it to start again.
        </Note>
      )}
      <ApplyText {...exploration} />
    </>
  )
}

function Lines(
  props: Grouping & {
    readonly columns: readonly Column[]
    readonly change: (grouping: Partial<Grouping>) => void
  },
) {
  const { columns, keys, sums, change } = props
  const unused = columns.find((column) => !keys.some((key) => key.column === column.name))
  return (
    <fieldset class="builder">
      <legend class="visually-hidden">Group and sum</legend>
      <BuilderLines
        list={keys}
        leads={['group by', 'then by']}
        remove={({ column }) => `Do not group by ${column}`}
        onList={(next) => change({ keys: next })}
      >
        {(value, onChange) => <KeyChoice {...{ value, columns, onChange }} />}
      </BuilderLines>
      <BuilderLines
        list={sums}
        leads={['calculate', 'and']}
        remove={({ column, method }) => `Do not calculate ${METHODS[method]}${column && ` of ${column}`}`}
        onList={(next) => change({ sums: next })}
      >
        {(value, onChange) => <SumChoice {...{ value, columns, onChange }} />}
      </BuilderLines>
      <div class="actions">
        <Button
          icon="plus"
          look="small"
          disabled={!unused}
          to={() => change({ keys: [...keys, { column: unused!.name, part: '' }] })}
          says="Group by a column"
        />
        <Button
          icon="plus"
          look="small"
          to={() => change({ sums: [...sums, nextSum(sums, columns)] })}
          says="Calculate something"
        />
      </div>
    </fieldset>
  )
}

interface ChoiceProps<T> {
  readonly value: T
  readonly columns: readonly Column[]
  readonly onChange: (value: T) => void
}

function KeyChoice({ value, columns, onChange }: ChoiceProps<Key>) {
  const parts = partsFor(typeOf(columns, value.column))
  const chooseColumn = (column: string) => {
    const keeps = partsFor(typeOf(columns, column)).includes(value.part)
    onChange({ column, part: keeps ? value.part : '' })
  }
  return (
    <>
      <Select
        label="Column to group by"
        value={value.column}
        options={columns.map(({ name }) => name)}
        onValue={chooseColumn}
      />
      {parts.length > 1 && (
        <Select
          label={`Part of ${value.column}`}
          value={value.part}
          options={parts.map((part) => [part, PARTS[part]])}
          onValue={(part) => onChange({ column: value.column, part })}
        />
      )}
    </>
  )
}

const COUNT: Sum = { column: '', method: 'count' }

function SumChoice({ value, columns, onChange }: ChoiceProps<Sum>) {
  const counts = value.method === 'count'
  const choose = (chosen: string) => {
    const column = columns[Number(chosen)]
    if (!column) return onChange(COUNT)
    const possible = methodsFor(column.type)
    const method = possible.includes(value.method) ? value.method : possible[0]!
    onChange({ column: column.name, method })
  }
  return (
    <>
      <Select
        label="What is calculated"
        // A column may have any name, also '#', so its index is the option's value.
        value={counts ? '#' : String(columns.findIndex(({ name }) => name === value.column))}
        options={[['#', METHODS.count], ...columns.map(({ name }, at) => [String(at), name] as const)]}
        onValue={choose}
      />
      {!counts && (
        <Select
          label={`Calculation for ${value.column}`}
          value={value.method}
          options={methodsFor(typeOf(columns, value.column)).map((method) => [method, METHODS[method]])}
          onValue={(method) => onChange({ column: value.column, method })}
        />
      )}
    </>
  )
}

/** The text of `$apply`, which the form writes and the user can edit. It takes effect on Enter, and when it is left. */
function ApplyText({ apply, rows: { error } }: Exploration) {
  const [text, setText] = useState(apply)
  useEffect(() => setText(apply), [apply])
  const take = (next: string) => {
    setText(next)
    if (next !== apply) setApply(next)
  }
  return (
    <div class="apply-text">
      <Field
        label="$apply"
        lines={3}
        plain
        placeholder="groupby((…),aggregate(…)): use the form above, or type it here"
        value={text}
        error={text.trim() === apply && error instanceof ApplyRefused ? error.message : undefined}
        onValue={(next) => setText(next.replaceAll('\n', ' '))}
        onDone={(next) => take(next.trim())}
      />
      {text !== '' && <Button look="small" to={() => take('')} says="Show the rows again" />}
    </div>
  )
}

/** The suggestion for the next aggregate: first the row count, then the sum of each numeric column in turn. */
function nextSum(sums: readonly Sum[], columns: readonly Column[]): Sum {
  if (sums.length === 0) return COUNT
  const numbers = columns.filter(({ type }) => methodsFor(type).includes('sum'))
  const column = numbers.find(({ name }) => !sums.some((sum) => sum.column === name)) ?? numbers[0]
  return column ? { column: column.name, method: 'sum' } : COUNT
}
