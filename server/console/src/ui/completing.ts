import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface Suggestion {
  readonly label: string
  /** A short description beside the label. */
  readonly note: string
  readonly kind: 'column' | 'function' | 'operator' | 'value'
  /** The text that replaces `from` to `to`. */
  readonly insert: string
  /** Position of the caret, as characters back from the end of the inserted text. */
  readonly caretBack: number
}

export interface Completion {
  readonly from: number
  readonly to: number
  readonly suggestions: readonly Suggestion[]
}

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
  const type = (value: string, caret: number) => {
    setText(value)
    suggest(value, caret)
  }
  const isOpen = completion !== undefined && completion.suggestions.length > 0
  return { text, area, completion, isOpen, chosen, type, suggest, close, accept, apply, onKeyDown }
}
