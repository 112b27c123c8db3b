import { useMemo } from 'preact/hooks'
import type { Column, ParquetryError } from '../../../client/index.ts'
import { isStatus, messageOf } from '../api.ts'
import type { Exploration } from '../dataset/exploration.ts'
import { Button } from '../ui/button.tsx'
import { BelowText, controlProps, useEditing } from '../ui/completing.tsx'
import { Note } from '../ui/feedback.tsx'
import { Select } from '../ui/field.tsx'
import { BuilderLines, useWritten } from '../ui/form.tsx'
import { Icon } from '../ui/icons.tsx'
import { setFilter } from '../view/view.ts'
import { complete } from './complete.ts'
import {
  type Condition,
  type Conditions,
  exampleFilter,
  exampleValue,
  operatorsFor,
  readConditions,
  takesValue,
  writeConditions,
} from './conditions.ts'
import { type ColumnProfile, familyOf, type Token, tokenize, typeOf } from './syntax.ts'

/**
 * The filter as text, with coloured tokens, suggestions at the caret, and a mark under the part that has an error. It
 * takes effect on Enter, so that unfinished filters are not sent.
 */
export function FilterBar({ dataset, of: { filter, search }, rows, profiles }: Exploration) {
  const valuesOf = (name: string) => (profiles?.get(name)?.top ?? []).map(({ value }) => String(value))
  const edit = useEditing(
    filter,
    (value, caret) => complete(value, caret, dataset.columns, valuesOf),
    setFilter,
  )
  const { text, apply } = edit
  // Other errors are shown in place of the rows, or below `$apply`.
  const isOurs = isStatus(rows.error, 400) && !rows.pending && (filter !== '' || search !== '')
  const error = isOurs && text === filter ? (rows.error as ParquetryError) : undefined
  const example = profiles && exampleFilter(profiles)
  return (
    <div class={`filter-bar ${error ? 'is-wrong' : ''}`}>
      <div class="filter-line">
        <Icon name="filter" />
        <div class="filter-text">
          <Highlight text={text} marked={error && errorSpan(error, filter)} />
          <textarea
            {...controlProps(edit, error !== undefined)}
            rows={1}
            aria-label="Filter"
            aria-haspopup="listbox"
            placeholder={example ? `Filter, for example ${example}` : 'Filter: type a column to begin'}
            onClick={(event) => edit.suggest(text, event.currentTarget.selectionStart)}
          />
        </div>
        {text !== '' && <Button look="quiet" icon="close" label="Clear the filter" to={() => apply('')} />}
        {text.trim() !== filter && <Button look="primary" to={() => apply(text)} says="Apply" />}
      </div>
      <BelowText edit={edit} problem={error && messageOf(error)} />
    </div>
  )
}

/** A coloured copy of the text, behind the input, whose own text is transparent. */
function Highlight(props: { readonly text: string; readonly marked: ErrorSpan | undefined }) {
  const { text, marked } = props
  const pieces = useMemo(() => tokenize(text), [text])
  const spans = []
  let at = 0
  const isWrong = (start: number, end: number) =>
    marked !== undefined && start < marked.end && end > marked.start ? ' is-wrong' : ''
  for (const token of pieces) {
    if (token.start > at) {
      spans.push(<span class={isWrong(at, token.start).trim()}>{text.slice(at, token.start)}</span>)
    }
    spans.push(<span class={`token-${token.kind}${isWrong(token.start, token.end)}`}>{token.text}</span>)
    at = token.end
  }
  spans.push(text.slice(at))
  if (marked && marked.start >= text.length) spans.push(<span class="is-wrong">&nbsp;&nbsp;</span>)
  return (
    <div class="filter-mirror" aria-hidden="true">
      {spans}
    </div>
  )
}

/** The part of the filter text that an error refers to. */
type ErrorSpan = Pick<Token, 'start' | 'end'>

/** The token of the filter that an error is about. Past the end of the text it is one character. */
function errorSpan({ details }: ParquetryError, filter: string): ErrorSpan | undefined {
  const { option, position } = details
  if (option !== '$filter' || position === undefined) return undefined
  const at = Math.min(position, filter.length)
  return tokenize(filter).find(({ start, end }) => start <= at && at < end) ?? { start: at, end: at + 1 }
}

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
