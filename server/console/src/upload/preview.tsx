import { fromHttp, READING } from '../../../../engine/options.ts'
import { COLUMN_TYPES, decimalParts } from '../../../../engine/types/index.ts'
import type { Column, ColumnType, Preview, UploadOptions } from '../../../client/index.ts'
import { plural } from '../format.ts'
import { alignsRight } from '../table/layout.ts'
import { Button } from '../ui/button.tsx'
import { Note } from '../ui/feedback.tsx'
import { PlainTable } from '../ui/plain-table.tsx'
import type { Chosen } from './upload.ts'

const MOST_COLUMNS = 60
const MOST_ROWS = 8

/** The first rows of a file and the detected types, which the user can change before the dataset is created. */
export function PreviewTable(props: {
  readonly chosen: Chosen
  /** The columns of the dataset that takes the rows. */
  readonly existing: readonly Column[] | undefined
  /** Whether columns are replaced, so that the server chooses the types. */
  readonly fixed: boolean
  readonly onType: (column: string, type: ColumnType) => void
}) {
  const { chosen, existing } = props
  const { preview, kind, types } = chosen
  if (!preview) {
    return (
      <Note>
        The file is too large for a preview. Columns and types are taken from the file; if it has an error,
        nothing is stored.
      </Note>
    )
  }
  // The types are the file's own.
  const typed = kind.format === 'parquet' || kind.format === 'arrow'
  const shown = preview.columns.slice(0, MOST_COLUMNS)
  const text = (row: Preview['rows'][number], name: string) => cellText(row[name])
  const typeOf = (column: Preview['columns'][number]) => {
    const found = existing?.find(({ name }) => name === column.name)?.type ?? column.type
    if (typed || existing || props.fixed) return <span class="grid-type">{found}</span>
    return (
      <TypeChoice
        name={column.name}
        type={types.get(column.name) ?? found}
        values={preview.rows.map((row) => text(row, column.name) ?? '')}
        onType={(type) => props.onType(column.name, type)}
      />
    )
  }
  return (
    <section aria-label="Preview">
      <div class="section-head">
        <h2>What is in it</h2>
        <p class="hint">{summary(preview, typed)}</p>
      </div>
      {existing && <Differences found={preview.columns} existing={existing} />}
      <PlainTable
        label="First rows"
        right={(at) => alignsRight(shown[at]!.type)}
        head={shown.map((column) => (
          <>
            <span class="grid-name">{column.name === '' ? '(no name)' : column.name}</span>
            {typeOf(column)}
          </>
        ))}
        rows={preview.rows
          .slice(0, MOST_ROWS)
          .map((row) => shown.map(({ name }) => text(row, name) ?? <span class="null">null</span>))}
      />
      {preview.columns.length > shown.length && (
        <p class="hint">And {plural(preview.columns.length - shown.length, 'more column')}.</p>
      )}
    </section>
  )
}

type Named = readonly { readonly name: string }[]

/** The columns that only the file has, and those that only the dataset has. */
function Differences({ found, existing }: { readonly found: Named; readonly existing: Named }) {
  const without = (some: Named, others: Named) =>
    some.filter(({ name }) => !others.some((other) => other.name === name)).map(({ name }) => `“${name}”`)
  const line = (names: readonly string[], where: string) =>
    names.length > 0 && (
      <Note icon="warning">
        {names.join(', ')} {names.length === 1 ? 'is' : 'are'} not in the {where}.
      </Note>
    )
  return (
    <>
      {line(without(found, existing), 'dataset')}
      {line(without(existing, found), 'file')}
    </>
  )
}

function summary({ columns, rowCount, warnings }: Preview, typed: boolean): string {
  const found = plural(columns.length, 'column')
  if (warnings.length > 0) return `${found}. ${warnings.join(' ')}`
  return `${found}, ${plural(rowCount, 'row')}.${typed ? " The types are the file's own." : ''}`
}

/** A value of a preview as text; undefined for null. */
function cellText(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const MOST_DIGITS = 38

/** A select for the type of a column, with the digits of a decimal. */
function TypeChoice(props: {
  readonly name: string
  readonly type: ColumnType
  /** The first values of the column. */
  readonly values: readonly string[]
  readonly onType: (type: ColumnType) => void
}) {
  const { name, type, onType } = props
  const parts = decimalParts(type)
  const choices = Object.keys(COLUMN_TYPES).map((one) =>
    one === 'decimal' ? (parts ? type : decimalFor(props.values)) : one,
  )
  const change = (wanted: number, scale: number) => {
    const precision = Math.min(MOST_DIGITS, Math.max(1, Math.trunc(wanted) || 1))
    onType(`decimal(${precision},${Math.min(precision, Math.max(0, Math.trunc(scale) || 0))})`)
  }
  const size = (label: string, least: number, most: number, value: number, set: (value: number) => void) => (
    <input
      type="number"
      min={least}
      max={most}
      aria-label={label}
      title={label}
      value={value}
      onChange={(event) => set(Number(event.currentTarget.value))}
    />
  )
  return (
    <>
      <select
        class="type-choice"
        aria-label={`Type of ${name}`}
        value={type}
        onChange={(event) => onType(event.currentTarget.value as ColumnType)}
      >
        {choices.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      {parts && (
        <span class="decimal-size">
          {size(`Digits of ${name}`, 1, MOST_DIGITS, parts.precision, (wanted) =>
            change(wanted, parts.scale),
          )}
          {size(`Digits of ${name} after the point`, 0, parts.precision, parts.scale, (scale) =>
            change(parts.precision, scale),
          )}
        </span>
      )}
    </>
  )
}

/** A decimal type for values like these, with the largest number of decimal places among them, and at least two. */
function decimalFor(values: readonly string[]): ColumnType {
  const places = values.map((value) => /^-?\d*\.(\d+)$/.exec(value)?.[1]?.length ?? 0)
  const scale = Math.min(38, Math.max(2, ...places))
  return `decimal(${Math.max(18, Math.min(38, scale + 12))},${scale})`
}

/** Why columns are text although they may be meant as something else, each with a button that reads them so. */
export function Reasons(props: {
  readonly preview: Preview
  readonly options: UploadOptions
  readonly onOptions: (options: UploadOptions) => void
}) {
  const meant = props.preview.columns.flatMap(({ name, because }) =>
    because && (because.try ?? because.above) !== undefined ? [{ name, ...because }] : [],
  )
  return (
    <>
      {meant.map(({ name, row, value, above, try: wanted }) => (
        <Note key={name}>
          “{name}” is text, because row {row} has “{value}”.{' '}
          {above !== undefined && `The values above it are of type ${above}. `}
          {wanted !== undefined && (
            <Button
              look="small"
              to={() => props.onOptions(joined(props.options, wanted))}
              says={`Read it with ${decodeURIComponent(wanted).replaceAll('&', ', ')}`}
            />
          )}
        </Note>
      ))}
    </>
  )
}

/** Options with those of a query string added. */
function joined(options: UploadOptions, query: string): UploadOptions {
  const more = fromHttp(Object.fromEntries(new URLSearchParams(query)), READING)
  return { ...options, ...more, ...(more.nulls && { nulls: [...(options.nulls ?? []), ...more.nulls] }) }
}
