import type { Column } from '../../../client/index.ts'
import type { Exploration } from '../dataset/exploration.ts'
import { Button } from '../ui/button.tsx'
import { Note } from '../ui/feedback.tsx'
import { Select } from '../ui/field.tsx'
import { BuilderLines, useWritten } from '../ui/form.tsx'
import { setFilter } from '../view/view.ts'
import {
  type Condition,
  type Conditions,
  exampleValue,
  operatorsFor,
  readConditions,
  takesValue,
  writeConditions,
} from './conditions.ts'
import { type ColumnProfile, familyOf, typeOf } from './syntax.ts'

const JOINS = ['and', 'or'] as const

/** A form for the filter, one line per condition. It parses the current filter and rewrites it on every change. */
export function FilterBuilder({ dataset: { columns }, of, profiles }: Exploration) {
  const [conditions, setConditions] = useWritten(of.filter, columns, start, writeConditions)
  if (!conditions) {
    return <Note>This filter is too complex for the form. Edit it as text, or clear it to start again.</Note>
  }
  const { list, join } = conditions
  const change = (next: Partial<Conditions>, apply = true) => {
    const changed = { ...conditions, ...next }
    setConditions(changed)
    if (apply) setFilter(writeConditions(changed, columns))
  }
  const joins = (
    <Select
      label="Join of the conditions"
      value={join}
      options={JOINS}
      onValue={(next) => change({ join: next })}
    />
  )
  return (
    <div class="builder">
      <BuilderLines
        list={list}
        leads={['where', joins]}
        remove={() => 'Remove this condition'}
        onList={(next, apply) => change({ list: next }, apply)}
      >
        {(condition, onItem) => (
          <Line
            {...{ condition, columns }}
            profile={profiles?.get(condition.column)}
            onChange={(line, apply) => onItem({ ...condition, ...line }, apply)}
          />
        )}
      </BuilderLines>
      <Button
        icon="plus"
        look="small"
        to={() => change({ list: [...list, freshLine(columns)] }, false)}
        says="Add a condition"
      />
    </div>
  )
}

function Line(props: {
  readonly condition: Condition
  readonly columns: readonly Column[]
  readonly profile: ColumnProfile | undefined
  readonly onChange: (line: Partial<Condition>, apply: boolean) => void
}) {
  const { condition, columns, profile, onChange } = props
  const { operator } = condition
  const type = typeOf(columns, condition.column)
  const chooseColumn = (column: string) => {
    const keeps = operatorsFor(typeOf(columns, column)).some(([name]) => name === operator)
    onChange({ column, operator: keeps ? operator : 'eq', value: '' }, false)
  }
  return (
    <>
      <Select
        label="Column"
        value={condition.column}
        options={columns.map(({ name }) => name)}
        onValue={chooseColumn}
      />
      <Select
        label="Comparison"
        value={operator}
        options={operatorsFor(type)}
        onValue={(next) => onChange({ operator: next }, condition.value !== '' || !takesValue(next))}
      />
      {takesValue(operator) && (
        <input
          class="input"
          aria-label="Value"
          placeholder={(profile && exampleValue(profile, operator)) ?? EXAMPLES[familyOf(type)]}
          value={condition.value}
          onInput={(event) => onChange({ value: event.currentTarget.value }, false)}
          onChange={(event) => onChange({ value: event.currentTarget.value }, true)}
        />
      )}
    </>
  )
}

function start(filter: string, columns: readonly Column[]): Conditions | undefined {
  const read = readConditions(filter, columns)
  return read && read.list.length === 0 ? { join: 'and', list: [freshLine(columns)] } : read
}

function freshLine(columns: readonly Column[]): Condition {
  return { column: columns[0]?.name ?? '', operator: 'eq', value: '' }
}

const EXAMPLES: Readonly<Record<ReturnType<typeof familyOf>, string>> = {
  number: '100',
  date: '2024-01-31',
  timestamp: '2024-01-31 12:00',
  time: '12:00',
  boolean: 'true',
  text: 'text',
  other: 'text',
}
