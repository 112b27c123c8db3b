import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

/** A labelled input with a hint and an error, which are linked to it for screen readers. */
export function Field(props: {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
  readonly value: string
  readonly onValue: (value: string) => void
  readonly type?: 'text' | 'password'
  readonly required?: boolean
  readonly maxLength?: number
  readonly spellcheck?: boolean
  readonly autocomplete?: 'off'
  readonly autoFocus?: boolean
}) {
  const { label, hint, error, value, onValue, type, ...input } = props
  // Preact types the props of inputs by a literal `type`. The props used here are the same for both of ours.
  const kind = { type: type ?? 'text' } as { type: 'text' }
  const id = useId()
  const notes = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...input}
        {...kind}
        id={id}
        class="input"
        value={value}
        aria-describedby={notes || undefined}
        aria-invalid={error ? true : undefined}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  )
}

/** A labelled select element. */
export function Select<T extends string>(props: {
  readonly label: string
  readonly value: T
  readonly options: readonly { readonly value: T; readonly label: string }[]
  readonly onValue: (value: T) => void
  readonly hideLabel?: boolean
}) {
  const id = useId()
  return (
    <div class={props.hideLabel ? 'field field-bare' : 'field'}>
      <label for={id} class={props.hideLabel ? 'visually-hidden' : undefined}>
        {props.label}
      </label>
      <select
        id={id}
        class="input"
        value={props.value}
        onChange={(event) => props.onValue(event.currentTarget.value as T)}
      >
        {props.options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  )
}

/** A search box that filters a list on the page. */
export function SearchBox(props: {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
}) {
  return (
    <input
      class="input search"
      type="search"
      aria-label={props.label}
      placeholder={props.label}
      value={props.value}
      onInput={(event) => props.onValue(event.currentTarget.value)}
    />
  )
}
