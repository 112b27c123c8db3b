import { useEffect, useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import type { ColumnStats } from '../profile/stats.ts'
import { Note } from '../ui/feedback.tsx'
import { Select } from '../ui/field.tsx'
import { Icon } from '../ui/icons.tsx'
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

/** A form for the filter, one line per condition. It parses the current filter and rewrites it on every change. */
export function FilterBuilder(props: {
  readonly columns: readonly Column[]
  readonly filter: string
  /** Statistics of the columns, for example values. */
  readonly stats: ReadonlyMap<string, ColumnStats> | undefined
  readonly onApply: (filter: string) => void
}) {
  const { columns } = props
  const [conditions, setConditions] = useState<Conditions | undefined>(() => start(props.filter, columns))
  useEffect(() => {
    // The form's own changes come back as `filter`. Only changes made elsewhere may replace what the user is editing.
    setConditions((before) =>
      before && writeConditions(before, columns) === props.filter ? before : start(props.filter, columns),
    )
  }, [props.filter, columns])

  if (!conditions) {
    return <Note>This filter is too complex for the form. Edit it as text, or clear it to start again.</Note>
  }
  const change = (next: Conditions, apply: boolean) => {
    setConditions(next)
    if (apply) props.onApply(writeConditions(next, columns))
  }
  const changeLine = (at: number, line: Partial<Condition>, apply: boolean) => {
    const list = conditions.list.map((condition, step) =>
      step === at ? { ...condition, ...line } : condition,
    )
    change({ ...conditions, list }, apply)
  }

  return (
    <div class="builder">
      {conditions.list.map((condition, at) => (
        <Line
          key={at}
          condition={condition}
          columns={columns}
          example={(operator) => {
            const known = props.stats?.get(condition.column)
            return known && exampleValue(known, operator)
          }}
          lead={
            at === 0 ? (
              <span class="builder-lead">where</span>
            ) : (
              <Select
                label="Join of the conditions"
                hideLabel
                value={conditions.join}
                options={[
                  { value: 'and', label: 'and' },
                  { value: 'or', label: 'or' },
                ]}
                onValue={(join) => change({ ...conditions, join }, true)}
              />
            )
          }
          onChange={(line, apply) => changeLine(at, line, apply)}
          onRemove={() =>
            change({ ...conditions, list: conditions.list.filter((_, step) => step !== at) }, true)
          }
        />
      ))}
      <div class="actions">
        <button
          type="button"
          class="button button-small"
          onClick={() => change({ ...conditions, list: [...conditions.list, freshLine(columns)] }, false)}
        >
          <Icon name="plus" />
          <span>Add a condition</span>
        </button>
        <button
          type="button"
          class="button button-small button-primary"
          onClick={() => change(conditions, true)}
        >
          Apply
        </button>
      </div>
    </div>
  )
}

function Line(props: {
  readonly condition: Condition
  readonly columns: readonly Column[]
  /** A value that occurs in some rows. */
  readonly example: (operator: string) => string | undefined
  readonly lead: preact.ComponentChildren
  readonly onChange: (line: Partial<Condition>, apply: boolean) => void
  readonly onRemove: () => void
}) {
  const { condition, columns } = props
  const type = columns.find((column) => column.name === condition.column)?.type ?? 'string'
  const operators = operatorsFor(type)
  return (
    <div class="builder-line">
      {props.lead}
      <Select
        label="Column"
        hideLabel
        value={condition.column}
        options={columns.map(({ name }) => ({ value: name, label: name }))}
        onValue={(column) => {
          const nextType = columns.find((known) => known.name === column)?.type ?? 'string'
          const keeps = operatorsFor(nextType).some(({ name }) => name === condition.operator)
          props.onChange({ column, operator: keeps ? condition.operator : 'eq', value: '' }, false)
        }}
      />
      <Select
        label="Comparison"
        hideLabel
        value={condition.operator}
        options={operators.map(({ name, label }) => ({ value: name, label }))}
        onValue={(operator) => props.onChange({ operator }, !takesValue(operator))}
      />
      {takesValue(condition.operator) && (
        <input
          class="input"
          aria-label="Value"
          placeholder={props.example(condition.operator) ?? exampleFor(type)}
          value={condition.value}
          onInput={(event) => props.onChange({ value: event.currentTarget.value }, false)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') props.onChange({ value: event.currentTarget.value }, true)
          }}
        />
      )}
      <button
        type="button"
        class="button button-quiet button-icon"
        aria-label="Remove this condition"
        onClick={props.onRemove}
      >
        <Icon name="close" />
      </button>
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

function exampleFor(type: string): string {
  switch (familyOf(type)) {
    case 'number':
      return '100'
    case 'date':
      return '2024-01-31'
    case 'timestamp':
      return '2024-01-31 12:00'
    case 'time':
      return '12:00'
    case 'boolean':
      return 'true'
    case 'text':
    case 'other':
      return 'text'
    default:
      return familyOf(type) as never
  }
}
