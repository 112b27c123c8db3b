// biome-ignore-all lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reached by keys
import type { Column, ColumnType } from '../../../client/index.ts'
import type { Field } from '../csv.ts'
import { formatCount, plural } from '../format.ts'
import { alignsRight } from '../table/layout.ts'
import { Note } from '../ui/feedback.tsx'
import { DecimalSize } from './decimal-size.tsx'
import { CHOICES, decimalFor } from './infer.ts'
import type { Preview } from './model.ts'

const MOST_COLUMNS = 60

/** The first rows of a file and the detected types, which the user can change before the dataset is created. */
export function PreviewTable(props: {
  readonly preview: Preview | undefined
  /** The columns of the target dataset, whose types can't be changed. */
  readonly existing: readonly Column[] | undefined
  /** Whether the server chooses the types, so that they can't be changed here. */
  readonly fixed?: boolean
  readonly types: ReadonlyMap<string, ColumnType>
  readonly onType: (column: string, type: ColumnType) => void
}) {
  const { preview, existing } = props
  if (!preview) {
    return (
      <Note>
        There is no preview for this kind of file. Columns and types are taken from the file; if it has an
        error, nothing is stored.
      </Note>
    )
  }
  const shown = preview.columns.slice(0, MOST_COLUMNS)
  const missing =
    existing?.filter((column) => !preview.columns.some(({ name }) => name === column.name)) ?? []
  const foreign = existing
    ? preview.columns.filter(({ name }) => !existing.some((column) => column.name === name))
    : []
  return (
    <section aria-label="Preview">
      <div class="section-head">
        <h2>What is in it</h2>
        <p class="hint">{summary(preview)}</p>
      </div>
      {foreign.length > 0 && (
        <Note icon="warning">
          {names(foreign)} {foreign.length === 1 ? 'is' : 'are'} not in the dataset.
        </Note>
      )}
      {missing.length > 0 && (
        <Note>
          {names(missing)} {missing.length === 1 ? 'is' : 'are'} not in the file.
        </Note>
      )}
      <section class="scroll-x" tabIndex={0} aria-label="First rows">
        <table class="plain-table">
          <thead>
            <tr>
              {shown.map((column, at) => (
                <th key={column.name} scope="col" class={alignsRight(column.type) ? 'is-right' : ''}>
                  <span class="grid-name">{column.name === '' ? '(no name)' : column.name}</span>
                  <TypeChoice
                    name={column.name}
                    found={existing?.find(({ name }) => name === column.name)?.type ?? column.type}
                    chosen={props.types.get(column.name)}
                    values={preview.rows.map((row) => row[at] ?? null)}
                    fixed={props.fixed === true || existing !== undefined || preview.typed}
                    onType={(type) => props.onType(column.name, type)}
                  />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {preview.rows.map((row, at) => (
              <tr key={at}>
                {shown.map((column, step) => (
                  <td key={column.name} class={alignsRight(column.type) ? 'is-right figures' : ''}>
                    {row[step] ?? <span class="null">null</span>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {preview.columns.length > shown.length && (
        <p class="hint">And {plural(preview.columns.length - shown.length, 'more column')}.</p>
      )}
    </section>
  )
}

function TypeChoice(props: {
  readonly name: string
  readonly found: ColumnType
  readonly chosen: ColumnType | undefined
  /** The first values of the column. */
  readonly values: readonly Field[]
  readonly fixed: boolean
  readonly onType: (type: ColumnType) => void
}) {
  if (props.fixed) return <span class="grid-type">{props.found}</span>
  const chosen = props.chosen ?? props.found
  const isDecimal = chosen.startsWith('decimal')
  const decimal = isDecimal ? chosen : decimalFor(props.values)
  return (
    <>
      <select
        class="type-choice"
        aria-label={`Type of ${props.name}`}
        value={chosen}
        onChange={(event) => props.onType(event.currentTarget.value as ColumnType)}
      >
        {[...CHOICES.slice(0, 3), decimal, ...CHOICES.slice(3)].map((type) => (
          <option key={type} value={type}>
            {type}
          </option>
        ))}
      </select>
      {isDecimal && <DecimalSize name={props.name} type={chosen} onType={props.onType} />}
    </>
  )
}

function summary(preview: Preview): string {
  const columns = plural(preview.columns.length, 'column')
  if (preview.typed)
    return `${columns}, ${plural(preview.rowCount ?? 0, 'row')}. The types are the file's own.`
  if (preview.rowCount !== undefined) return `${columns}, ${plural(preview.rowCount, 'row')}.`
  return `${columns}. Types are inferred from the first ${formatCount(preview.lookedAt)} rows, and again from the whole file when it is stored.`
}

function names(columns: readonly { readonly name: string }[]): string {
  return columns.map(({ name }) => `“${name}”`).join(', ')
}
