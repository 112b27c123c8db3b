import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import { messageOf } from '../api.ts'
import { Icon } from '../ui/icons.tsx'
import { type Completion, complete, type Suggestion } from './complete.ts'
import { type ErrorPlace, errorPlace } from './error-place.ts'
import { tokenize } from './tokens.ts'

/**
 * The filter as text, with coloured tokens, suggestions at the caret, and a mark under the part that has an error. It
 * takes effect on Enter, so that unfinished filters are not sent.
 */
export function FilterBar(props: {
  readonly columns: readonly Column[]
  /** The current filter. */
  readonly filter: string
  /** The server's error; undefined if there is none. */
  readonly error: unknown
  readonly valuesOf: (column: string) => readonly string[]
  /** A filter that matches some rows, shown as a placeholder. */
  readonly example: string | undefined
  readonly onApply: (filter: string) => void
}) {
  const [text, setText] = useState(props.filter)
  const [completion, setCompletion] = useState<Completion>()
  const [chosen, setChosen] = useState(-1)
  const area = useRef<HTMLTextAreaElement>(null)
  const id = useId()
  useEffect(() => setText(props.filter), [props.filter])

  const place = text === props.filter ? errorPlace(props.error, props.filter) : undefined
  const failed = text === props.filter && props.error !== undefined
  const open = completion !== undefined && completion.suggestions.length > 0

  const suggest = (value: string, caret: number) => {
    setCompletion(complete(value, caret, props.columns, props.valuesOf))
    setChosen(-1)
  }
  const apply = (value: string) => {
    setCompletion(undefined)
    props.onApply(value.trim())
    setText(value.trim())
  }
  const accept = (suggestion: Suggestion) => {
    const { from, to } = completion!
    const next = text.slice(0, from) + suggestion.insert + text.slice(to).replace(/^ /, '')
    const caret = from + suggestion.insert.length - suggestion.caretBack
    setText(next)
    suggest(next, caret)
    requestAnimationFrame(() => {
      area.current?.focus()
      area.current?.setSelectionRange(caret, caret)
    })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const count = completion?.suggestions.length ?? 0
    if (event.key === 'Enter') {
      event.preventDefault()
      const suggestion = completion?.suggestions[chosen]
      if (suggestion) accept(suggestion)
      else apply(text)
    } else if (event.key === 'Escape' && open) {
      event.preventDefault()
      setCompletion(undefined)
    } else if (event.key === 'Tab' && open && chosen >= 0) {
      event.preventDefault()
      accept(completion.suggestions[chosen]!)
    } else if (event.key === 'ArrowDown' && !open) {
      event.preventDefault()
      suggest(text, area.current!.selectionStart)
    } else if (open && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault()
      const step = event.key === 'ArrowDown' ? 1 : -1
      setChosen(chosen < 0 && step < 0 ? count - 1 : (chosen + step + count) % count)
    }
  }

  return (
    <div class={`filter-bar ${failed ? 'is-wrong' : ''}`}>
      <div class="filter-line">
        <Icon name="filter" />
        <div class="filter-text">
          <Highlight text={text} place={place} />
          <textarea
            ref={area}
            rows={1}
            aria-label="Filter"
            aria-haspopup="listbox"
            aria-controls={open ? `${id}-list` : undefined}
            aria-autocomplete="list"
            aria-activedescendant={chosen >= 0 ? `${id}-${chosen}` : undefined}
            aria-invalid={failed || undefined}
            aria-describedby={failed ? `${id}-error` : undefined}
            placeholder={
              props.example ? `All rows. Try: ${props.example}` : 'All rows. Type a column to begin'
            }
            spellcheck={false}
            autocapitalize="off"
            autocomplete="off"
            value={text}
            onInput={(event) => {
              const value = event.currentTarget.value.replaceAll('\n', ' ')
              setText(value)
              suggest(value, event.currentTarget.selectionStart)
            }}
            onKeyDown={onKeyDown}
            onClick={(event) => suggest(text, event.currentTarget.selectionStart)}
            onBlur={() => setCompletion(undefined)}
          />
        </div>
        {text !== '' && (
          <button
            type="button"
            class="button button-quiet button-icon"
            aria-label="Clear the filter"
            onClick={() => apply('')}
          >
            <Icon name="close" />
          </button>
        )}
        <button
          type="button"
          class={`button ${text.trim() === props.filter ? '' : 'button-primary'}`}
          onClick={() => apply(text)}
        >
          Apply
        </button>
      </div>
      {open && (
        <SuggestionList id={id} suggestions={completion.suggestions} chosen={chosen} onAccept={accept} />
      )}
      {failed && (
        <p class="filter-error" id={`${id}-error`} role="alert">
          {messageOf(props.error)}
        </p>
      )}
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

function SuggestionList(props: {
  readonly id: string
  readonly suggestions: readonly Suggestion[]
  readonly chosen: number
  readonly onAccept: (suggestion: Suggestion) => void
}) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [props.chosen])
  return (
    <div class="suggestions" id={`${props.id}-list`} role="listbox" aria-label="Suggestions" ref={list}>
      {props.suggestions.map((suggestion, at) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the input's, which keeps the focus
        <div
          key={suggestion.kind + suggestion.label}
          id={`${props.id}-${at}`}
          class="suggestion"
          role="option"
          tabIndex={-1}
          aria-selected={at === props.chosen}
          // Keeps the input from losing the focus.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => props.onAccept(suggestion)}
        >
          <span class={`suggestion-kind suggestion-${suggestion.kind}`} aria-hidden="true" />
          <span class="suggestion-label">{suggestion.label}</span>
          <span class="suggestion-note">{suggestion.note}</span>
        </div>
      ))}
    </div>
  )
}
