import { useEffect, useRef } from 'preact/hooks'
import type { Suggestion } from './completing.ts'

/** What can come at the caret. The keys are the text's, which keeps the focus. */
export function SuggestionList(props: {
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
