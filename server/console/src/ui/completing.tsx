import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Completion, Suggestion } from './completion.ts'

/**
 * A text while it is edited, and what can come at the caret: `control` is for its text area, `below` stands under that.
 * Enter takes a chosen suggestion, else it applies the text; with `lines` Enter begins a line, and Control with Enter
 * applies.
 */
export function useEditing(
  current: string,
  complete: (text: string, caret: number) => Completion,
  onApply: (text: string) => void,
  lines = false,
) {
  const id = useId()
  const [text, setText] = useState(current)
  const [completion, setCompletion] = useState<Completion>()
  const [chosen, setChosen] = useState(-1)
  /** Where the caret goes when the text with a suggestion is shown. */
  const [moved, setMoved] = useState<{ readonly caret: number }>()
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(() => setText(current), [current])
  // Later, as with an animation frame, it would move the caret of somebody who types on at once.
  useLayoutEffect(() => {
    if (!moved) return
    area.current?.focus()
    area.current?.setSelectionRange(moved.caret, moved.caret)
  }, [moved])
  const suggest = (value: string, caret: number) => {
    setCompletion(complete(value, caret))
    setChosen(-1)
  }
  const close = () => setCompletion(undefined)
  const apply = (value: string) => {
    close()
    onApply(value.trim())
    setText(value.trim())
  }
  const accept = (suggestion: Suggestion) => {
    const { from, to } = completion!
    const next = text.slice(0, from) + suggestion.insert + text.slice(to).replace(/^ /, '')
    const caret = from + suggestion.insert.length - suggestion.caretBack
    setText(next)
    suggest(next, caret)
    setMoved({ caret })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event
    const count = completion?.suggestions.length ?? 0
    const suggestion = completion?.suggestions[chosen]
    const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
    const applies = !lines || event.ctrlKey || event.metaKey
    if (key === 'Enter' && suggestion) accept(suggestion)
    else if (key === 'Enter' && applies) apply(text)
    else if (key === 'Escape' && count > 0) close()
    else if (key === 'Tab' && suggestion) accept(suggestion)
    else if (key === 'ArrowDown' && count === 0 && !lines) suggest(text, area.current!.selectionStart)
    else if (step !== 0 && count > 0)
      setChosen(chosen < 0 && step < 0 ? count - 1 : (chosen + step + count) % count)
    else return
    event.preventDefault()
  }
  const suggestions = completion?.suggestions ?? []
  const isOpen = suggestions.length > 0
  const control = (failed: boolean) => ({
    ref: area,
    'aria-autocomplete': 'list' as const,
    'aria-controls': isOpen ? `${id}-list` : undefined,
    'aria-activedescendant': chosen >= 0 ? `${id}-${chosen}` : undefined,
    'aria-invalid': failed || undefined,
    'aria-describedby': failed ? `${id}-error` : undefined,
    spellcheck: false,
    autocapitalize: 'off' as const,
    autocomplete: 'off' as const,
    value: text,
    onInput: ({ currentTarget: { value, selectionStart } }: Typed) => {
      const typed = lines ? value : value.replaceAll('\n', ' ')
      setText(typed)
      suggest(typed, selectionStart)
    },
    onKeyDown,
    onBlur: close,
  })
  const below = (problem: string | undefined) => (
    <>
      {isOpen && <SuggestionList {...{ id, suggestions, chosen }} onAccept={accept} />}
      {problem !== undefined && (
        <p class="filter-error" id={`${id}-error`} role="alert">
          {problem}
        </p>
      )}
    </>
  )
  return { text, area, suggest, apply, control, below }
}

interface Typed {
  readonly currentTarget: { readonly value: string; readonly selectionStart: number }
}

/** What can come at the caret. The keys are the text's, which keeps the focus. */
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
