import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { changed } from '../use-resource.ts'
import { Button } from './button.tsx'
import { openDialog } from './dialog.tsx'
import { Check, type Choice, Choices, Field, type Option, Select } from './field.tsx'

interface Action {
  /** What the button says that sends the form. */
  readonly action: string
  readonly busyAction?: string
}

/** Sends a form: `busy` while that runs, and the `error` of the last time. */
function useSubmit(onSubmit: () => Promise<unknown>) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      await onSubmit()
    } catch (failure) {
      setError(messageOf(failure))
    }
    setBusy(false)
  }
  const wrong = error && (
    <p class="field-error" role="alert">
      {error}
    </p>
  )
  return { busy, wrong, submit }
}

/** A field of a form: a check box if its value is a boolean, a choice if it has options, else a text. */
interface FormField
  extends Pick<Parameters<typeof Field>[0], 'required' | 'maxLength' | 'plain' | 'hint' | 'lines'> {
  readonly label: string
  /** The value at the start. */
  readonly value: string | boolean
  /** Shown as a list with their notes if they have any, else as a select. */
  readonly options?: readonly Option[] | readonly Choice[]
  /** Whether a text keeps blanks at its ends. */
  readonly verbatim?: boolean
  /** Whether the field is shown, by the values of the others. */
  readonly when?: (values: Readonly<Record<string, string | boolean>>) => boolean
}

type Fields = Readonly<Record<string, FormField>>

/** What a form asks for, and what is done with the values. Texts come without blanks at their ends. */
interface FormOf<F extends Fields> extends Action {
  readonly fields: F
  readonly onSubmit: (values: { readonly [Name in keyof F]: F[Name]['value'] }) => Promise<unknown>
}

function useForm<F extends Fields>({ fields, onSubmit }: FormOf<F>) {
  const start = () => Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value]))
  const [values, setValues] = useState<Readonly<Record<string, string | boolean>>>(start)
  const shown = Object.entries(fields).filter(([, { when }]) => !when || when(values))
  const trimmed = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' && !fields[name]?.verbatim ? value.trim() : value,
    ]),
  )
  const controls = shown.map(
    ([name, { label, options, hint, value: _, when: __, verbatim: ___, ...input }]) => {
      const value = values[name]!
      const onValue = (next: string | boolean) => setValues((before) => ({ ...before, [name]: next }))
      if (typeof value === 'boolean') {
        return (
          <Check key={name} checked={value} onChecked={onValue}>
            {label} <span class="hint">{hint}</span>
          </Check>
        )
      }
      if (options && hasNotes(options)) return <Choices key={name} {...{ label, value, options, onValue }} />
      if (options) return <Select key={name} {...{ label, value, options, onValue }} />
      return <Field key={name} {...{ label, value, hint, onValue }} {...input} />
    },
  )
  return {
    controls,
    ready: shown.every(([name, { required }]) => !required || trimmed[name] !== ''),
    send: () => onSubmit(trimmed as Parameters<typeof onSubmit>[0]),
    // A form of choices alone keeps them: they often serve once more.
    reset: () => shown.every(([, { options }]) => options) || setValues(start),
  }
}

function hasNotes(options: NonNullable<FormField['options']>): options is readonly Choice[] {
  return options.every((option) => typeof option !== 'string' && 'note' in option)
}

type Question<F extends Fields> = Partial<FormOf<F>> &
  Action & {
    readonly title: string
    readonly text?: ComponentChildren
    /** Whether it can't be undone. */
    readonly danger?: boolean
    /** Whether nothing that is shown has changed by it. */
    readonly onlyReads?: boolean
    readonly onSubmit: FormOf<F>['onSubmit']
  }

/** Asks in a window, for values or only whether to go on. */
export function ask<F extends Fields>(question: Question<F>): void {
  openDialog(question.title, (close) => <Asked {...{ question, close }} />)
}

/** A form in a window of its own. It stays open, with the message, if what it sends is refused. */
function Asked<F extends Fields>(props: { readonly question: Question<F>; readonly close: () => void }) {
  const { question, close } = props
  const { text, danger, onlyReads, fields = {} as F, action, busyAction = action } = question
  const { controls, ready, send } = useForm<F>({ ...question, fields })
  const { busy, wrong, submit } = useSubmit(async () => {
    await send()
    if (!onlyReads) changed()
    close()
  })
  return (
    <form onSubmit={submit}>
      <div class="dialog-body">
        {text && <p>{text}</p>}
        {controls}
        {wrong}
      </div>
      <footer class="dialog-foot">
        <Button to={close} says={danger ? 'Keep it' : 'Cancel'} />
        <Button
          submit
          look={danger ? 'danger' : 'primary'}
          disabled={busy || !ready}
          says={busy ? busyAction : action}
        />
      </footer>
    </form>
  )
}

/** A form in one line below a list, which adds to it. */
export function LineForm<F extends Fields>(props: FormOf<F>) {
  const { controls, ready, send, reset } = useForm(props)
  const { busy, wrong, submit } = useSubmit(() => send().then(changed).then(reset))
  return (
    <form class="line-form" onSubmit={submit}>
      {controls}
      <Button submit disabled={busy || !ready} says={props.action} />
      {wrong}
    </form>
  )
}
