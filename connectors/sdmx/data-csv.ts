import { MULTIPLIER, SeriesBuilder } from './assemble.ts'
import { type CsvTable, parseCsv } from './csv.ts'
import type { DataMessage, Expected } from './data.ts'
import { notUnderstood } from './failures.ts'
import { type Candidate, chooseDimensions } from './keys.ts'

/** Columns that say which structure a row follows, not where it stands in it. */
const FRAME =
  /^(DATAFLOW(_ID)?|STRUCTURE(\[.*\])?|STRUCTURE_ID|STRUCTURE_NAME|ACTION|KEY|SERIES_KEY|LAST UPDATE)$/i
const TIME_COLUMN = /^(TIME_PERIOD|TIME)$/i
const VALUE_COLUMN = /^(OBS_VALUE|VALUE)$/i
/** `FREQ: Frequency` in a header, `M: Monthly` in a cell: SDMX-CSV with labels=both. */
const LABELLED = /^([\w@$-]+)\s*:\s*(.+)$/s

interface Column {
  readonly index: number
  readonly id: string
  /** Where the names of its codes stand: in a column of their own, or behind the code in the same cell. */
  readonly labels: number | 'inside' | undefined
}

/**
 * Reads SDMX-CSV 1.0 and 2.0 with any choice of labels, and the providers' own dialects: the ECB's `KEY` column,
 * Norges Bank's semicolons, Eurostat's `LAST UPDATE`. Columns go by their names, in any order.
 */
export function readDataCsv(text: string, expected: Expected): DataMessage {
  const table = parseCsv(text)
  const columns = columnsOf(table)
  const time = columns.find(({ id }) => TIME_COLUMN.test(id))
  const value = columns.find(({ id }) => VALUE_COLUMN.test(id))
  // A list of series keys has neither, but says which dataflow it is of.
  if ((!time || !value) && !columns.some(({ id }) => FRAME.test(id))) {
    throw notUnderstood('CSV without the columns TIME_PERIOD and OBS_VALUE')
  }
  const components = columns.filter((one) => one !== time && one !== value && !FRAME.test(one.id))
  const cell = (row: readonly string[], column: Column | undefined) =>
    column ? codeIn(row[column.index]!, column) : ''
  const keyed = dimensionsByKeyColumn(table, columns, components)
  const leading = time && value ? components.filter(({ index }) => index < time.index) : components
  const choose = (among: readonly Column[]) =>
    chooseDimensions(
      among.map((one) => candidate(one, table)),
      expected.pattern,
      keyed ?? expected.dimensions,
    )
  const byPosition = choose(leading.length > 0 ? leading : components)
  const { ids, certain } = byPosition.certain ? byPosition : choose(components)
  const dimensions = ids.map((id) => components.find((one) => one.id.toLowerCase() === id.toLowerCase()))
  const attributes = columns.filter((one) => one !== time && one !== value)
  const multiplier = components.find(({ id }) => id === MULTIPLIER)
  const builder = new SeriesBuilder(expected)
  for (const row of table.rows) {
    const key = dimensions.map((column) => cell(row, column))
    const observations = builder.series(key, () => {
      return new Map(
        attributes.map((one) => [
          one.id.toUpperCase() === 'LAST UPDATE' ? 'LAST_UPDATE' : one.id,
          cell(row, one),
        ]),
      )
    })
    const period = cell(row, time)
    if (period === '') continue
    observations?.push({ period, value: cell(row, value), multiplier: multiplier && cell(row, multiplier) })
  }
  return {
    name: flowName(columns, table),
    dimensions: ids,
    certain,
    series: builder.all(),
    labels: labelsOf(components, table),
  }
}

/** With labels=name (SDMX-CSV 2.0, told by STRUCTURE_NAME) each component is followed by a column of its names. */
function columnsOf({ columns }: CsvTable): readonly Column[] {
  const frame = columns.filter((name) => FRAME.test(name)).length
  const first = columns.findIndex((name) => !FRAME.test(name))
  const paired = columns.includes('STRUCTURE_NAME') && first >= 0 && (columns.length - frame) % 2 === 0
  return columns.flatMap((name, index): Column[] => {
    if (FRAME.test(name)) return [{ index, id: name, labels: undefined }]
    if (paired) return (index - first) % 2 === 0 ? [{ index, id: name, labels: index + 1 }] : []
    const labelled = LABELLED.exec(name)
    return [{ index, id: labelled?.[1] ?? name, labels: labelled ? 'inside' : undefined }]
  })
}

/** Times are full of colons, and values have no names. */
function codeIn(text: string, { id, labels }: Column): string {
  if (labels !== 'inside' || TIME_COLUMN.test(id) || VALUE_COLUMN.test(id)) return text
  return LABELLED.exec(text)?.[1] ?? text
}

function candidate(column: Column, { rows }: CsvTable): Candidate {
  return { id: column.id, has: (code) => rows.some((row) => codeIn(row[column.index]!, column) === code) }
}

/**
 * A `KEY` column tells how many dimensions there are: those whose codes it joins. The ECB puts the dataflow before
 * them (`EXR.M.USD.EUR.SP00.A`), the BIS does not.
 */
function dimensionsByKeyColumn(
  { rows }: CsvTable,
  columns: readonly Column[],
  components: readonly Column[],
): readonly string[] | undefined {
  const column = columns.find(({ id }) => id === 'KEY' || id === 'SERIES_KEY')
  const row = rows[0]
  if (!column || !row) return undefined
  const key = row[column.index]!.split('.')
  for (const codes of [key.slice(1), key]) {
    const found = components.slice(0, codes.length)
    const isKey = codes.every((code, i) => found[i] && codeIn(row[found[i].index]!, found[i]) === code)
    if (isKey && codes.length > 0) return found.map(({ id }) => id)
  }
  return undefined
}

/** `STRUCTURE_NAME`, or what stands behind the reference in `ECB:EXR(1.0): Exchange Rates`. */
function flowName(columns: readonly Column[], { rows }: CsvTable): string | undefined {
  const cell = (id: string) =>
    rows[0]?.[columns.find((column) => column.id.toUpperCase() === id)?.index ?? -1]
  return cell('STRUCTURE_NAME') || /\): (.+)$/s.exec(cell('DATAFLOW') ?? '')?.[1]
}

function labelsOf(
  columns: readonly Column[],
  { rows }: CsvTable,
): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const labels = new Map<string, Map<string, string>>()
  for (const column of columns) {
    if (column.labels === undefined) continue
    const names = new Map<string, string>()
    for (const row of rows) {
      const text = row[column.index]!
      const name = column.labels === 'inside' ? LABELLED.exec(text)?.[2] : row[column.labels]
      if (name) names.set(codeIn(text, column), name)
    }
    if (names.size > 0) labels.set(column.id, names)
  }
  return labels
}
