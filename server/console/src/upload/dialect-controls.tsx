import { READING } from '../../../../engine/options.ts'
import { Field, Select } from '../ui/field.tsx'
import { LABELS, type Reading } from './upload.ts'

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
  'windows-1250': 'Windows-1250 (Central European)',
  'windows-1251': 'Windows-1251 (Cyrillic)',
  macintosh: 'Mac OS Roman',
  shift_jis: 'Shift JIS (Japanese)',
  gb18030: 'GB 18030 (Chinese)',
  big5: 'Big5 (Chinese)',
  'euc-kr': 'EUC-KR (Korean)',
}
const NAMES = {
  present: 'names of the columns',
  index: 'names, the first column has none',
  number: 'names, some are missing or occur twice',
}
const FIRST_LINES = { ...NAMES, absent: 'a row like the others' }
const DATES = {
  '': 'as 2024-12-31',
  'D.M.YYYY': 'as 31.12.2024',
  'D/M/YYYY': 'as 31/12/2024, the day first',
  'M/D/YYYY': 'as 12/31/2024, the month first',
  'YYYY/M/D': 'as 2024/12/31',
}

/** The options that are one of several: the first is meant where none is given. */
const CHOICES = [
  ['delimiter', LABELS.delimiter, DELIMITERS],
  ['decimal', LABELS.decimal, DECIMALS],
  ['thousands', LABELS.thousands, THOUSANDS],
  ['encoding', LABELS.encoding, ENCODINGS],
  ['dates', LABELS.dates, DATES],
] as const

/** Controls for how a file is written, as the server has found it, for the user to correct. */
export function DialectControls({ chosen: { kind, options }, readWith }: Reading) {
  const change = (part: Readonly<Record<string, unknown>>) =>
    readWith(Object.fromEntries(Object.entries({ ...options, ...part }).filter(([, value]) => value)))
  const usual = { ...(kind.format === 'tsv' && { delimiter: '\t' }), ...options }
  const count = (name: 'skip' | 'headerRows' | 'footer') => (
    <Field
      label={LABELS[name]}
      value={String(options[name] ?? '')}
      onValue={(text) => change({ [name]: Number(text) })}
      plain
    />
  )
  const words = (name: 'nulls' | 'booleans') => (
    <Field
      label={LABELS[name]}
      value={(options[name] ?? []).join(',')}
      onValue={(text) => change({ [name]: text === '' ? undefined : text.split(',') })}
      plain
    />
  )
  const isText = (READING.delimiter.formats as readonly string[]).includes(kind.format)
  const names = isText ? FIRST_LINES : NAMES
  return (
    <fieldset class="dialect">
      <legend>How the file is written</legend>
      {isText &&
        CHOICES.map(([name, label, labels]) => (
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
        {...choiceOf(names, options.header === 'absent' ? 'absent' : (options.names ?? 'present'))}
        onValue={(first) =>
          change({
            header: first === 'absent' && first,
            names: (first === 'index' || first === 'number') && first,
          })
        }
      />
      {count('skip')}
      {count('headerRows')}
      {count('footer')}
      {words('nulls')}
      {isText && words('booleans')}
    </fieldset>
  )
}

/** What is chosen, and the choices; what the server found may be another one. */
function choiceOf(labels: Readonly<Record<string, string>>, value: string) {
  return { value, options: { [value]: `as ${value}`, ...labels } }
}
