import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Completion, Suggestion } from './completion.ts'

/**
 * A text while it is edited, and what can come at the caret. Enter takes a chosen suggestion, else it applies the text;
 * with `lines` Enter begins a line, and Control with Enter applies.
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
  const suggestions = completion?.suggestions ?? []
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
  const accept = ({ insert, behind }: Suggestion) => {
    const { from, to } = completion!
    const next = text.slice(0, from) + insert + behind + text.slice(to).replace(/^ /, '')
    const caret = from + insert.length
    setText(next)
    suggest(next, caret)
    setMoved({ caret })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, isComposing } = event
    // The keys are those of whatever composes the characters of Chinese, Japanese or Korean.
    if (isComposing) return
    const count = suggestions.length
    const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
    const applies = !lines || event.ctrlKey || event.metaKey
    if ((key === 'Enter' || key === 'Tab') && suggestions[chosen]) accept(suggestions[chosen])
    else if (key === 'Enter' && applies) apply(text)
    else if (key === 'Escape' && count > 0) close()
    else if (key === 'ArrowDown' && count === 0 && !lines) suggest(text, area.current!.selectionStart)
    else if (step !== 0 && count > 0)
      setChosen(chosen < 0 && step < 0 ? count - 1 : (chosen + step + count) % count)
    else return
    event.preventDefault()
  }
  const type = (value: string, caret: number) => {
    const typed = lines ? value : value.replaceAll('\n', ' ')
    setText(typed)
    suggest(typed, caret)
  }
  return { id, text, area, suggestions, chosen, type, suggest, close, accept, apply, onKeyDown }
}

type Editing = ReturnType<typeof useEditing>

/** What the text area of a text takes. */
export function controlProps({ id, suggestions, chosen, ...edit }: Editing, failed: boolean) {
  return {
    ref: edit.area,
    'aria-autocomplete': 'list' as const,
    'aria-controls': suggestions.length > 0 ? `${id}-list` : undefined,
    'aria-activedescendant': chosen >= 0 ? `${id}-${chosen}` : undefined,
    'aria-invalid': failed || undefined,
    'aria-describedby': failed ? `${id}-error` : undefined,
    spellcheck: false,
    autocapitalize: 'off' as const,
    autocomplete: 'off' as const,
    value: edit.text,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLTextAreaElement }) =>
      edit.type(currentTarget.value, currentTarget.selectionStart),
    onKeyDown: edit.onKeyDown,
    onBlur: edit.close,
  }
}

/** Stands below the text: what can come at the caret, and what is wrong. The keys are the text's, which keeps the focus. */
export function BelowText(props: { readonly edit: Editing; readonly problem: string | undefined }) {
  const { id, suggestions, chosen, accept } = props.edit
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [chosen])
  return (
    <>
      {suggestions.length > 0 && (
        <div class="suggestions" id={`${id}-list`} role="listbox" aria-label="Suggestions" ref={list}>
          {suggestions.map((suggestion, at) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the input's, which keeps the focus
            <div
              key={suggestion.kind + suggestion.label}
              id={`${id}-${at}`}
              class="suggestion"
              role="option"
              tabIndex={-1}
              aria-selected={at === chosen}
              // Keeps the input from losing the focus.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => accept(suggestion)}
            >
              <span class={`suggestion-kind suggestion-${suggestion.kind}`} aria-hidden="true" />
              <span class="suggestion-label">{suggestion.label}</span>
              <span class="suggestion-note">{suggestion.note}</span>
            </div>
          ))}
        </div>
      )}
      {props.problem !== undefined && (
        <p class="filter-error" id={`${id}-error`} role="alert">
          {props.problem}
        </p>
      )}
    </>
  )
}
