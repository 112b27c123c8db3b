import { useMemo } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import { isStatus, messageOf } from '../api.ts'
import { Button } from '../ui/button.tsx'
import { BelowText, controlOf, useEditing } from '../ui/completing.tsx'
import { Icon } from '../ui/icons.tsx'
import { complete as completeFilter } from './complete.ts'
import { tokenize } from './tokens.ts'

interface FilterProps {
  readonly columns: readonly Column[]
  /** The current filter. */
  readonly filter: string
  /** The server's error; undefined if there is none. */
  readonly error: unknown
  readonly valuesOf: (column: string) => readonly string[]
  /** A filter that matches some rows, shown as a placeholder. */
  readonly example: string | undefined
  readonly onApply: (filter: string) => void
}

/**
 * The filter as text, with coloured tokens, suggestions at the caret, and a mark under the part that has an error. It
 * takes effect on Enter, so that unfinished filters are not sent.
 */
export function FilterBar(props: FilterProps) {
  const { filter, error } = props
  const complete = (value: string, caret: number) =>
    completeFilter(value, caret, props.columns, props.valuesOf)
  const edit = useEditing(filter, complete, props.onApply)
  const { text, apply } = edit
  const failed = text === filter && error !== undefined
  return (
    <div class={`filter-bar ${failed ? 'is-wrong' : ''}`}>
      <div class="filter-line">
        <Icon name="filter" />
        <FilterText
          {...{ edit, failed }}
          place={failed ? errorPlace(error, filter) : undefined}
          placeholder={
            props.example ? `Filter, for example ${props.example}` : 'Filter: type a column to begin'
          }
        />
        {text !== '' && (
          <Button look="quiet" icon="close" label="Clear the filter" onClick={() => apply('')} />
        )}
        {text.trim() !== filter && (
          <Button look="primary" onClick={() => apply(text)}>
            Apply
          </Button>
        )}
      </div>
      <BelowText edit={edit} problem={failed ? messageOf(error) : undefined} />
    </div>
  )
}

function FilterText(props: {
  readonly edit: ReturnType<typeof useEditing>
  readonly failed: boolean
  readonly place: ErrorPlace | undefined
  readonly placeholder: string
}) {
  const { edit, failed } = props
  const { text } = edit
  return (
    <div class="filter-text">
      <Highlight text={text} place={props.place} />
      <textarea
        {...controlOf(edit, failed)}
        rows={1}
        aria-label="Filter"
        aria-haspopup="listbox"
        placeholder={props.placeholder}
        onClick={(event) => edit.suggest(text, event.currentTarget.selectionStart)}
      />
    </div>
  )
}

/** A coloured copy of the text, behind the input, whose own text is transparent. */
function Highlight(props: { readonly text: string; readonly place: ErrorPlace | undefined }) {
  const { text, place } = props
  const pieces = useMemo(() => tokenize(text), [text])
  const spans = []
  let at = 0
  const isWrong = (start: number, end: number) =>
    place !== undefined && start < place.end && end > place.start ? ' is-wrong' : ''
  for (const token of pieces) {
    if (token.start > at) {
      spans.push(<span class={isWrong(at, token.start).trim()}>{text.slice(at, token.start)}</span>)
    }
    spans.push(<span class={`token-${token.kind}${isWrong(token.start, token.end)}`}>{token.text}</span>)
    at = token.end
  }
  spans.push(text.slice(at))
  if (place && place.start >= text.length) spans.push(<span class="is-wrong">&nbsp;&nbsp;</span>)
  return (
    <div class="filter-mirror" aria-hidden="true">
      {spans}
    </div>
  )
}

/** The part of the filter text that an error refers to. `end` is exclusive. */
interface ErrorPlace {
  readonly start: number
  readonly end: number
}

/**
 * Finds the part of the filter that an error message refers to: by its position, counted from 1, or by the unknown
 * column names in it. Undefined if it has neither.
 */
function errorPlace(error: unknown, filter: string): ErrorPlace | undefined {
  if (!isStatus(error, 400)) return undefined
  const given = /\bposition (\d+)/.exec(error.message)?.[1]
  if (given !== undefined) return wordAt(filter, Number(given) - 1)
  const names = /invalid column\(s\): (.+?)\. Column names/.exec(error.message)?.[1]
  const first = names?.split(', ')[0]
  if (first === undefined) return undefined
  const at = filter.indexOf(first)
  return at < 0 ? undefined : { start: at, end: at + first.length }
}

/** The word that begins at a position; past the end of the text, one character after it. */
function wordAt(text: string, position: number): ErrorPlace {
  const start = Math.min(Math.max(position, 0), text.length)
  const word = /^(?:'(?:[^']|'')*'?|"[^"]*"?|[\w.:-]+|\S)/.exec(text.slice(start))?.[0] ?? ''
  return { start, end: start + Math.max(word.length, 1) }
}
