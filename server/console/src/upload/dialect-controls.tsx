import type { UploadOptions } from '../../../client/index.ts'
import { Field, Select } from '../ui/field.tsx'

const DELIMITERS = { ',': 'comma ,', ';': 'semicolon ;', '\t': 'tab', '|': 'bar |' }
const DECIMALS = { '.': 'point 1.5', ',': 'comma 1,5' }
const THOUSANDS = {
  '': 'nothing 1000',
  '.': 'point 1.000',
  ',': 'comma 1,000',
  ' ': 'space 1 000',
  "'": "apostrophe 1'000",
}
const ENCODINGS = {
  'utf-8': 'UTF-8',
  'windows-1252': 'Windows-1252 (Western)',
  latin1: 'Latin 1',
  'utf-16': 'UTF-16',
  shift_jis: 'Shift JIS (Japanese)',
}
const FIRST_LINES = {
  present: 'names of the columns',
  index: 'names, the first column has none',
  number: 'names, some are missing or occur twice',
  absent: 'a row like the others',
}
const DATES = {
  '': 'as 2024-12-31',
  'D.M.YYYY': 'as 31.12.2024',
  'D/M/YYYY': 'as 31/12/2024, the day first',
  'M/D/YYYY': 'as 12/31/2024, the month first',
  'YYYY/M/D': 'as 2024/12/31',
}

/** The options that are one of several: the first is meant where none is given. */
const CHOICES = [
  ['delimiter', 'Between fields', DELIMITERS],
  ['decimal', 'Decimal sign', DECIMALS],
  ['thousands', 'Between thousands', THOUSANDS],
  ['encoding', 'Characters', ENCODINGS],
  ['dates', 'Dates', DATES],
] as const

/** Controls for how a text file is written, as the server has found it, for the user to correct. */
export function DialectControls(props: {
  readonly format: 'csv' | 'tsv'
  readonly options: UploadOptions
  readonly onOptions: (options: UploadOptions) => void
}) {
  const { options } = props
  const change = (part: Readonly<Record<string, unknown>>) =>
    props.onOptions(Object.fromEntries(Object.entries({ ...options, ...part }).filter(([, value]) => value)))
  const usual = { ...(props.format === 'tsv' && { delimiter: '\t' }), ...options }
  return (
    <fieldset class="dialect">
      <legend>How the file is written</legend>
      {CHOICES.map(([name, label, labels]) => (
        <Select
          key={name}
          label={label}
          {...choiceOf(labels, usual[name] ?? Object.keys(labels)[0]!)}
          onValue={(value) =>
            // The delimiter can't be the decimal separator as well.
            change({
              [name]: value,
              ...(name === 'delimiter' && value === ',' && { decimal: '', thousands: '' }),
            })
          }
        />
      ))}
      <Select
        label="First line"
        {...choiceOf(FIRST_LINES, options.header === 'absent' ? 'absent' : (options.names ?? 'present'))}
        onValue={(first) =>
          change({
            header: first === 'absent' && first,
            names: (first === 'index' || first === 'number') && first,
          })
        }
      />
      <Field
        label="Lines above it"
        value={String(options.skip ?? '')}
        onValue={(text) => change({ skip: Number(text) })}
        plain
      />
      <Field
        label="Texts for missing values"
        value={(options.nulls ?? []).join(',')}
        onValue={(text) => change({ nulls: text === '' ? undefined : text.split(',') })}
        plain
      />
    </fieldset>
  )
}

/** What is chosen, and the choices; what the server found may be another one. */
function choiceOf(labels: Readonly<Record<string, string>>, value: string) {
  return { value, options: { [value]: `as ${value}`, ...labels } }
}
