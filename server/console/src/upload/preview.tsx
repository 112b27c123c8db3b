import { MOST_FAULTS } from '../../../../engine/ingest/text/errors.ts'
import { hasDialect } from '../../../../engine/ingest/upload-format.ts'
import { fromHttp, READING } from '../../../../engine/options.ts'
import { COLUMN_TYPES, decimalParts } from '../../../../engine/types/index.ts'
import { withOptions } from '../../../client/errors.ts'
import type { Column, ColumnType, Preview, UploadOptions } from '../../../client/index.ts'
import { plural } from '../format.ts'
import { alignsRight } from '../table/layout.ts'
import { Button } from '../ui/button.tsx'
import { Failure, Loading, Note } from '../ui/feedback.tsx'
import { Select } from '../ui/field.tsx'
import { PlainTable } from '../ui/plain-table.tsx'
import { ContentChoice } from './content-choice.tsx'
import { DialectControls } from './dialect-controls.tsx'
import { LABELS, labelled, type Reading } from './upload.ts'

const MOST_COLUMNS = 60
const MOST_ROWS = 8

type PreviewProps = Reading & {
  /** The columns of the dataset that takes the rows. */
  readonly existing: readonly Column[] | undefined
  /** Whether columns are replaced, so that the server chooses the types. */
  readonly fixed: boolean
}

/** What the server has found in a file, and how it is read, for the user to correct. */
export function FilePreview(props: PreviewProps) {
  const { chosen } = props
  const { kind, problems, preview } = chosen
  return (
    <>
      {hasDialect(kind.format) && <DialectControls {...props} />}
      <ContentChoice {...props} />
      <ZoneChoice {...props} />
      <Problems problems={problems} />
      {chosen.reading && !preview ? (
        <Loading label="Reading the file" />
      ) : (
        problems.length === 0 && <PreviewTable {...props} />
      )}
      {preview && <Choices {...preview} />}
      {preview && <Reasons {...props} preview={preview} />}
    </>
  )
}

/** What is wrong with a file: the first thing, and a list of the others. */
export function Problems({ problems }: { readonly problems: readonly string[] }) {
  const [first, ...others] = problems
  if (first === undefined) return null
  return (
    <Failure error={new Error(first)}>
      {others.length > 0 && (
        <ul>
          {others.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      {problems.length >= MOST_FAULTS && <p>There may be more errors.</p>}
    </Failure>
  )
}

/** The first rows of a file and the detected types, which the user can change before the dataset is created. */
function PreviewTable({ chosen, existing, fixed, setType }: PreviewProps) {
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
    if (typed || existing || fixed) return <span class="grid-type">{found}</span>
    return (
      <TypeChoice
        name={column.name}
        type={types.get(column.name) ?? found}
        values={preview.rows.map((row) => text(row, column.name) ?? '')}
        onType={(type) => setType(column.name, type)}
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

function summary({ columns, rowCount, warnings, hints }: Preview, typed: boolean): string {
  const found = plural(columns.length, 'column')
  if (warnings.length > 0) return `${found}. ${withOptions(warnings.join(' '), hints, labelled)}`
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
  const change = (digits: number, scale: number) => {
    const precision = Math.min(MOST_DIGITS, Math.max(1, Math.trunc(digits) || 1))
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
          {size(`Digits of ${name}`, 1, MOST_DIGITS, parts.precision, (digits) =>
            change(digits, parts.scale),
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

/** What was chosen by the beginning of the file, and by which values. */
function Choices({ options, why = [] }: Preview) {
  return (
    why.length > 0 && (
      <ul class="hint" aria-label="How the file is read">
        {why.map(({ option, row, value }) => (
          <li key={option}>
            {labelled(option, String(options[option]))}, because of “{value}”{row > 0 && ` in row ${row}`}
          </li>
        ))}
      </ul>
    )
  )
}

const MOMENTS: ReadonlySet<string> = new Set(['date', 'timestamp', 'timestamptz'])
const SEVERAL_FORMS =
  'A file has one form of dates. Where a column has several, store it as text and read them on the page SQL with try_strptime.'

/** Why columns are text although they may be meant as something else, each with a button that reads them so. */
function Reasons({ chosen, preview, readWith }: Reading & { readonly preview: Preview }) {
  const isText = (name: string) => (chosen.types.get(name) ?? 'string') === 'string'
  const meant = preview.columns.flatMap(({ name, because }) =>
    because && (because.try ?? because.above) !== undefined && isText(name) ? [{ name, ...because }] : [],
  )
  return (
    <>
      {meant.map(({ name, row, value, above, try: instead, or }) => (
        <Note key={name}>
          “{name}” is text, because row {row} has “{value}”.{' '}
          {above !== undefined && `The values above it are of type ${above}. `}
          {above !== undefined && instead === undefined && MOMENTS.has(above) && SEVERAL_FORMS}
          {[instead, or].map(
            (choice) =>
              choice !== undefined && (
                <Button
                  key={choice}
                  look="small"
                  to={() => readWith(joined(chosen.sent, choice))}
                  says={`Read it with ${Array.from(new URLSearchParams(choice), (one) => labelled(...one)).join(', ')}`}
                />
              ),
          )}
        </Note>
      ))}
    </>
  )
}

/** Options with those of a query string added. */
function joined(options: UploadOptions, query: string): UploadOptions {
  const more = fromHttp(Object.fromEntries(new URLSearchParams(query)), READING)
  return { ...options, ...more }
}

/** Where columns hold timestamps with a zone: the one of times in the file that don't say theirs. */
function ZoneChoice({ chosen, existing = [], readWith }: PreviewProps) {
  const { sent, types } = chosen
  const isZoned = ({ name, type }: Pick<Column, 'name' | 'type'>) =>
    (types.get(name) ?? type) === 'timestamptz'
  if (!existing.some(isZoned) && ![...types.values()].includes('timestamptz')) return null
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]
  return (
    <Select
      label={LABELS.zone}
      value={sent.zone ?? ''}
      options={[
        ['', 'not known: such times are an error'],
        ...new Set([...(sent.zone ? [sent.zone] : []), ...zones]),
      ]}
      onValue={(zone) => {
        const { zone: _, ...others } = sent
        readWith({ ...others, ...(zone && { zone }) }, types)
      }}
    />
  )
}
