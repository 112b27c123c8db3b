import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'

interface Typed {
  readonly currentTarget: { readonly value: string }
}

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
  /** Neither completed nor checked for spelling: for names, keys and ids. */
  readonly plain?: boolean
  readonly autoFocus?: boolean
  readonly placeholder?: string
  /** More than one for a longer text. */
  readonly lines?: number
  /** Called on Enter, and when the field is left after a change. */
  readonly onDone?: (value: string) => void
}) {
  const { label, hint, error, value, onValue, type, plain, lines, onDone, ...input } = props
  // Preact types the props of inputs by a literal `type`. The props used here are the same for both of ours.
  const kind = { type: type ?? 'text' } as { type: 'text' }
  const id = useId()
  const notes = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ')
  const common = {
    ...input,
    ...(plain && { autocomplete: 'off' as const, spellcheck: false }),
    id,
    class: 'input',
    value,
    'aria-describedby': notes || undefined,
    'aria-invalid': error ? true : undefined,
    ...(onDone && {
      onChange: (event: Typed) => onDone(event.currentTarget.value),
      onKeyDown: (event: Typed & KeyboardEvent) => {
        if (event.key !== 'Enter') return
        event.preventDefault()
        onDone(event.currentTarget.value)
      },
    }),
    onInput: (event: Typed) => onValue(event.currentTarget.value),
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {lines === undefined ? <input {...common} {...kind} /> : <textarea {...common} rows={lines} />}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  )
}

/** Choices: labels by values; or a list, in which a value without a label is its own. */
export type Options<T extends string = string> =
  | Readonly<Record<T, string>>
  | readonly (T | readonly [value: T, label: string])[]

/** A labelled select element. In lists, lines of forms and rows of buttons, only screen readers are told the label. */
export function Select<T extends string>(props: {
  readonly label: string
  readonly value: T
  readonly options: Options<T>
  readonly onValue: (value: T) => void
}) {
  const { label, value, options, onValue } = props
  const id = useId()
  const choices = (Array.isArray(options) ? options : Object.entries(options)) as readonly (
    | T
    | readonly [T, string]
  )[]
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        class="input"
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = currentTarget.value as T
          // It shows `value` until that changes, also where the choice is refused or does something only once.
          currentTarget.value = value
          onValue(chosen)
        }}
      >
        {choices.map((option) => {
          const [one, shown] = typeof option === 'string' ? [option, option] : option
          return (
            <option key={one} value={one}>
              {shown}
            </option>
          )
        })}
      </select>
    </div>
  )
}

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

/** A search among items by their texts: the box, what is typed in it, and what it finds. */
export function useSearch<T>(label: string, items: readonly T[], textOf: (item: T) => string) {
  const [search, setSearch] = useState('')
  const typed = search.trim().toLowerCase()
  const found = items.filter((item) => textOf(item).toLowerCase().includes(typed))
  const box = <SearchBox label={label} value={search} onValue={setSearch} />
  return { box, search, found }
}

export function Check(props: {
  readonly checked: boolean
  readonly disabled?: boolean
  readonly onChecked: (checked: boolean) => void
  readonly children: ComponentChildren
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={props.checked}
        disabled={props.disabled ?? false}
        onChange={(event) => props.onChecked(event.currentTarget.checked)}
      />
      <span>{props.children}</span>
    </label>
  )
}

export type Choice<T extends string = string> = {
  readonly value: T
  readonly label: string
  readonly note: string
}

export function Choices<T extends string>(props: {
  readonly label: string
  readonly value: T
  readonly options: readonly Choice<T>[]
  readonly onValue: (value: T) => void
}) {
  const name = useId()
  return (
    <fieldset class="choices">
      <legend>{props.label}</legend>
      {props.options.map(({ value, label, note }) => (
        <label key={value} class="choice">
          <input
            type="radio"
            name={name}
            checked={props.value === value}
            onChange={() => props.onValue(value)}
          />
          <span class="choice-label">{label}</span>
          <span class="choice-note">{note}</span>
        </label>
      ))}
    </fieldset>
  )
}
