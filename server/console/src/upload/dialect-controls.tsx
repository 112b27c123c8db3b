import { Field, Select } from '../ui/field.tsx'
import {
  DATE_FORMS,
  type DateForm,
  DELIMITERS,
  type Delimiter,
  type Dialect,
  ENCODINGS,
  type Encoding,
} from './dialect.ts'

const DELIMITER_LABELS: Readonly<Record<Delimiter, string>> = {
  ',': 'comma ,',
  ';': 'semicolon ;',
  '\t': 'tab',
  '|': 'bar |',
}

const ENCODING_LABELS: Readonly<Record<Encoding, string>> = {
  'utf-8': 'UTF-8',
  latin1: 'Windows-1252 (Latin 1)',
  'utf-16': 'UTF-16',
}

const DATE_LABELS: Readonly<Record<DateForm, string>> = {
  'YYYY-MM-DD': 'as 2024-12-31',
  'D.M.YYYY': 'as 31.12.2024',
  'D/M/YYYY': 'as 31/12/2024, the day first',
  'M/D/YYYY': 'as 12/31/2024, the month first',
}

/** Controls for the detected dialect of a text file, for the user to correct. */
export function DialectControls(props: {
  readonly dialect: Dialect
  readonly onDialect: (dialect: Dialect) => void
}) {
  const { dialect } = props
  const change = (part: Partial<Dialect>) => props.onDialect({ ...dialect, ...part })
  return (
    <fieldset class="dialect">
      <legend>How the file is written</legend>
      <Select
        label="Between fields"
        value={dialect.delimiter}
        options={DELIMITERS.map((value) => ({ value, label: DELIMITER_LABELS[value] }))}
        // The delimiter can't be the decimal separator as well.
        onValue={(delimiter) => change(delimiter === ',' ? { delimiter, decimal: '.' } : { delimiter })}
      />
      <Select
        label="Decimal sign"
        value={dialect.decimal}
        options={[
          { value: '.', label: 'point 1.5' },
          { value: ',', label: 'comma 1,5' },
        ]}
        onValue={(decimal) => change({ decimal })}
      />
      <Select
        label="Characters"
        value={dialect.encoding}
        options={ENCODINGS.map((value) => ({ value, label: ENCODING_LABELS[value] }))}
        onValue={(encoding) => change({ encoding })}
      />
      <Select
        label="First line"
        value={dialect.header}
        options={[
          { value: 'present', label: 'names of the columns' },
          { value: 'index', label: 'names, the first column has none' },
          { value: 'absent', label: 'a row like the others' },
        ]}
        onValue={(header) => change({ header })}
      />
      <Select
        label="Dates"
        value={dialect.dates}
        options={DATE_FORMS.map((value) => ({ value, label: DATE_LABELS[value] }))}
        onValue={(dates) => change({ dates })}
      />
      <Field
        label="Texts for missing values"
        value={dialect.nulls.join(',')}
        onValue={(text) => change({ nulls: text === '' ? [] : text.split(',') })}
        spellcheck={false}
        autocomplete="off"
      />
    </fieldset>
  )
}
