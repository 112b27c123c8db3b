import { useEffect, useId, useState } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { Icon } from '../ui/icons.tsx'

/** The text of `$apply`, which the form writes and the user can edit. It takes effect on Enter. */
export function ApplyBar(props: {
  /** The text in effect. */
  readonly apply: string
  /** The server's error; undefined if there is none. */
  readonly error: unknown
  readonly onApply: (apply: string) => void
}) {
  const [text, setText] = useState(props.apply)
  const id = useId()
  useEffect(() => setText(props.apply), [props.apply])
  const isInEffect = text.trim() === props.apply
  const failed = isInEffect && props.error !== undefined
  return (
    <div class={`apply-bar ${failed ? 'is-wrong' : ''}`}>
      <label for={id} class="apply-label">
        $apply
      </label>
      <textarea
        id={id}
        class="input apply-text"
        rows={1}
        placeholder="groupby((…),aggregate(…)): use the form above, or type it here"
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        aria-invalid={failed || undefined}
        aria-describedby={failed ? `${id}-error` : undefined}
        value={text}
        onInput={(event) => setText(event.currentTarget.value.replaceAll('\n', ' '))}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          props.onApply(text.trim())
        }}
      />
      {text !== '' && (
        <button
          type="button"
          class="button button-quiet button-icon"
          aria-label="Show the rows again"
          title="Show the rows again"
          onClick={() => {
            setText('')
            props.onApply('')
          }}
        >
          <Icon name="close" />
        </button>
      )}
      <button
        type="button"
        class={`button ${isInEffect ? '' : 'button-primary'}`}
        onClick={() => props.onApply(text.trim())}
      >
        Apply
      </button>
      {failed && (
        <p class="filter-error" id={`${id}-error`} role="alert">
          {messageOf(props.error)}
        </p>
      )}
    </div>
  )
}
