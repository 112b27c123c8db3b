import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import { messageOf } from '../api.ts'
import { Button } from './button.tsx'
import { openDialog } from './dialog.tsx'
import { Check, type Choice, Choices, Field, type Options, Select } from './field.tsx'
import { changed } from './resource.tsx'

/** A field of a form: a check box if its value is a boolean, a choice if it has options, else a text. */
interface FormField
  extends Pick<Parameters<typeof Field>[0], 'required' | 'maxLength' | 'plain' | 'hint' | 'lines'> {
  readonly label: string
  /** The value at the start. */
  readonly value: string | boolean
  /** Shown as a list with their notes if they have any, else as a select. */
  readonly options?: Options | readonly Choice[]
  /** Whether a text keeps blanks at its ends. */
  readonly verbatim?: boolean
  /** Whether the field is shown, by the values of the others. */
  readonly when?: (values: Readonly<Record<string, string | boolean>>) => boolean
}

type Fields = Readonly<Record<string, FormField>>

/** What a form asks for, and what is done with the values. Texts come without blanks at their ends. */
interface FormOf<F extends Fields> {
  readonly fields: F
  /** What the button says that sends the form, and what it says while that is under way. */
  readonly action: string
  readonly busyAction?: string
  /** Whether nothing that is shown has changed by it. */
  readonly onlyReads?: boolean
  readonly onSubmit: (values: { readonly [Name in keyof F]: F[Name]['value'] }) => Promise<unknown>
}

/** The parts of a form, of which `wrong` is why it was refused. `after` is called when it was taken. */
function useForm<F extends Fields>(form: FormOf<F>, look: string, after: (reset: () => void) => void) {
  const { fields, action, busyAction = action } = form
  const start = () => Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value]))
  const [values, setValues] = useState<Readonly<Record<string, string | boolean>>>(start)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const shown = Object.entries(fields).filter(([, { when }]) => !when || when(values))
  const trimmed = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' && !fields[name]?.verbatim ? value.trim() : value,
    ]),
  )
  // A form of choices alone keeps them: they often serve once more.
  const reset = () => shown.every(([, { options }]) => options) || setValues(start)
  const submit = async (event: Event) => {
    event.preventDefault()
    // The button stays as it is meanwhile: one that is disabled loses the focus.
    if (busy) return
    setBusy(true)
    setError(undefined)
    try {
      await form.onSubmit(trimmed as Parameters<typeof form.onSubmit>[0])
      if (!form.onlyReads) changed()
      after(reset)
    } catch (failure) {
      setError(messageOf(failure))
    }
    setBusy(false)
  }
  const ready = shown.every(
    ([name, { required }]) => !required || (trimmed[name] !== '' && trimmed[name] !== false),
  )
  return {
    submit,
    controls: shown.map(([name, field]) => (
      <FormControl
        key={name}
        {...field}
        value={values[name]!}
        onValue={(next) => setValues((before) => ({ ...before, [name]: next }))}
      />
    )),
    button: <Button submit look={look} disabled={!ready} says={busy ? busyAction : action} />,
    wrong: error && (
      <p class="field-error" role="alert">
        {error}
      </p>
    ),
  }
}

function FormControl({
  when: _,
  verbatim: __,
  value,
  options,
  ...field
}: FormField & { readonly onValue: (value: string | boolean) => void }) {
  const { label, hint, onValue } = field
  if (typeof value === 'boolean') {
    return (
      <Check checked={value} onChecked={onValue}>
        {label} <span class="hint">{hint}</span>
      </Check>
    )
  }
  if (options && hasNotes(options)) return <Choices {...{ label, value, options, onValue }} />
  return options ? <Select {...{ label, value, options, onValue }} /> : <Field {...field} value={value} />
}

function hasNotes(options: NonNullable<FormField['options']>): options is readonly Choice[] {
  return Array.isArray(options) && options.every((option) => typeof option === 'object' && 'note' in option)
}

type Question<F extends Fields> = Omit<FormOf<F>, 'fields'> & {
  readonly title: string
  readonly text?: ComponentChildren
  readonly fields?: F
  /** Whether it can't be undone. */
  readonly danger?: boolean
}

/** Asks in a window, for values or only whether to go on. It stays open, with the message, if that is refused. */
export function ask<F extends Fields>(question: Question<F>): void {
  openDialog({ title: question.title, content: (close) => <QuestionForm {...{ question, close }} /> })
}

function QuestionForm<F extends Fields>(props: {
  readonly question: Question<F>
  readonly close: () => void
}) {
  const { question, close } = props
  const { text, danger, fields = {} as F } = question
  const form = useForm<F>({ ...question, fields }, danger ? 'danger' : 'primary', close)
  return (
    <form onSubmit={form.submit}>
      <div class="dialog-body">
        {text && <p>{text}</p>}
        {form.controls}
        {form.wrong}
      </div>
      <footer class="dialog-foot">
        <Button to={close} says={danger ? 'Keep it' : 'Cancel'} />
        {form.button}
      </footer>
    </form>
  )
}

/** A form in one line below a list, which adds to it. */
export function LineForm<F extends Fields>(props: FormOf<F>) {
  const { submit, controls, button, wrong } = useForm(props, '', (reset) => reset())
  return (
    <form class="line-form" onSubmit={submit}>
      {controls}
      {button}
      {wrong}
    </form>
  )
}

/**
 * The state of a form that reads a text and writes it again. Its own changes come back as `text`; only changes made
 * elsewhere replace what the user is editing. Undefined if the form can't express the text.
 */
export function useWritten<T>(
  text: string,
  columns: readonly Column[],
  read: (text: string, columns: readonly Column[]) => T | undefined,
  write: (value: T, columns: readonly Column[]) => string,
) {
  const [value, setValue] = useState(() => read(text, columns))
  useEffect(() => {
    setValue((before) => (before && write(before, columns) === text ? before : read(text, columns)))
  }, [text, columns])
  return [value, setValue] as const
}

/** The lines of such a form, one for each of a list, which can be changed and removed. */
export function BuilderLines<T>(props: {
  readonly list: readonly T[]
  /** What stands before the first line, and before the others. */
  readonly leads: readonly [first: string, further: ComponentChildren]
  /** What the button says that removes a line. */
  readonly remove: (item: T) => string
  /** `apply` is false while a line is unfinished. */
  readonly onList: (list: readonly T[], apply?: boolean) => void
  readonly children: (item: T, onItem: (item: T, apply?: boolean) => void) => ComponentChildren
}) {
  const { list, leads, remove, onList, children } = props
  return list.map((item, at) => {
    const lead = leads[at === 0 ? 0 : 1]
    return (
      <div key={at} class="builder-line">
        {typeof lead === 'string' ? <span class="builder-lead">{lead}</span> : lead}
        <Button look="quiet" icon="close" label={remove(item)} to={() => onList(list.toSpliced(at, 1))} />
        {children(item, (changed, apply) => onList(list.with(at, changed), apply))}
      </div>
    )
  })
}
