import { useEffect, useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import type { ColumnProfile, Profiles } from '../profile/use-profile.ts'
import { Button } from '../ui/button.tsx'
import { Note } from '../ui/feedback.tsx'
import { Select } from '../ui/field.tsx'
import {
  type Condition,
  type Conditions,
  operatorsFor,
  readConditions,
  takesValue,
  writeConditions,
} from './conditions.ts'
import { exampleValue } from './example.ts'
import { familyOf } from './types.ts'

const JOINS = ['and', 'or'] as const

/** A form for the filter, one line per condition. It parses the current filter and rewrites it on every change. */
export function FilterBuilder(props: {
  readonly columns: readonly Column[]
  readonly filter: string
  readonly profiles: Profiles | undefined
  readonly onApply: (filter: string) => void
}) {
  const { columns, filter, profiles } = props
  const [conditions, setConditions] = useState<Conditions | undefined>(() => start(filter, columns))
  useEffect(() => {
    // The form's own changes come back as `filter`. Only changes made elsewhere may replace what the user is editing.
    setConditions((before) =>
      before && writeConditions(before, columns) === filter ? before : start(filter, columns),
    )
  }, [filter, columns])

  if (!conditions) {
    return <Note>This filter is too complex for the form. Edit it as text, or clear it to start again.</Note>
  }
  const { list, join } = conditions
  const change = (next: Partial<Conditions>, apply = true) => {
    const changed = { ...conditions, ...next }
    setConditions(changed)
    if (apply) props.onApply(writeConditions(changed, columns))
  }
  return (
    <div class="builder">
      {list.map((condition, at) => (
        <Line
          key={at}
          condition={condition}
          columns={columns}
          profile={profiles?.get(condition.column)}
          lead={
            at === 0 ? (
              <span class="builder-lead">where</span>
            ) : (
              <Select
                label="Join of the conditions"
                hideLabel
                value={join}
                options={JOINS}
                onValue={(next) => change({ join: next })}
              />
            )
          }
          onChange={(line, apply) => change({ list: list.with(at, { ...condition, ...line }) }, apply)}
          onRemove={() => change({ list: list.toSpliced(at, 1) })}
        />
      ))}
      <Button icon="plus" look="small" onClick={() => change({ list: [...list, freshLine(columns)] }, false)}>
        Add a condition
      </Button>
    </div>
  )
}

function Line(props: {
  readonly condition: Condition
  readonly columns: readonly Column[]
  readonly profile: ColumnProfile | undefined
  readonly lead: preact.ComponentChildren
  readonly onChange: (line: Partial<Condition>, apply: boolean) => void
  readonly onRemove: () => void
}) {
  const { condition, columns, profile, onChange } = props
  const { operator } = condition
  const typeOf = (name: string) => columns.find((column) => column.name === name)?.type ?? 'string'
  const type = typeOf(condition.column)
  const chooseColumn = (column: string) => {
    const keeps = operatorsFor(typeOf(column)).some(({ name }) => name === operator)
    onChange({ column, operator: keeps ? operator : 'eq', value: '' }, false)
  }
  return (
    <div class="builder-line">
      {props.lead}
      <Button look="quiet" icon="close" label="Remove this condition" onClick={props.onRemove} />
      <Select
        label="Column"
        hideLabel
        value={condition.column}
        options={columns.map(({ name }) => name)}
        onValue={chooseColumn}
      />
      <Select
        label="Comparison"
        hideLabel
        value={operator}
        options={operatorsFor(type).map(({ name, label }) => ({ value: name, label }))}
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
    </div>
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
