import { Failure, notUnderstood } from '../../failures.ts'
import { type CsvTable, parseCsv } from '../text/text.ts'
import { assemble, type Block, type DataMessage, type Expected, TIME } from './message.ts'

/** Columns that name the structure of a row and aren't part of its key. */
const FRAME =
  /^(DATAFLOW(_ID)?|STRUCTURE(\[.*\])?|STRUCTURE_ID|STRUCTURE_NAME|ACTION|KEY|SERIES_KEY|OBS_KEY|LAST[ _]UPDATE)$/i
const TIME_COLUMN = /^(TIME_PERIOD|TIME)$/i
/**
 * Names of the column of values. Some dialects call it `VALUE`, but the BIS has a dimension of that name beside
 * `OBS_VALUE`, so the first name is preferred.
 */
const VALUE_COLUMNS = [/^OBS_VALUE$/i, /^VALUE$/i]
/** `FREQ: Frequency` in a header, `M: Monthly` in a cell: SDMX-CSV with labels=both. */
const LABELLED = /^([\w@$-]+)\s*:\s*(.+)$/s

interface Column {
  readonly index: number
  readonly id: string
  /** Where the names of the codes are: in a column of their own, or after the code in the same cell. */
  readonly labels: number | 'inside' | undefined
}

/**
 * Reads SDMX-CSV 1.0 and 2.0 with any choice of labels, and the providers' own dialects: the ECB's `KEY` column, Norges
 * Bank's semicolons, Eurostat's `LAST UPDATE`. Columns are found by name, in any order.
 */
export function readDataCsv(text: string, expected: Expected): DataMessage {
  const parsed = parseCsv(text)
  const table = { ...parsed, rows: withoutDeleted(parsed) }
  const columns = columnsOf(table)
  const time = columns.find(({ id }) => TIME_COLUMN.test(id))
  const value = VALUE_COLUMNS.map((name) => columns.find(({ id }) => name.test(id))).find(Boolean)
  if (!time && value) throw new Failure('no-time', { what: 'The rows have no time.' })
  // A list of series keys has neither column, but says to which dataflow it belongs.
  if ((!time || !value) && !columns.some(({ id }) => FRAME.test(id))) {
    throw notUnderstood('CSV without the columns TIME_PERIOD and OBS_VALUE')
  }
  const attributes = columns.filter((one) => one !== time && one !== value)
  const components = attributes.filter(({ id }) => !FRAME.test(id))
  const leading = components.filter(({ index }) => !time || index < time.index)
  const rows = table.rows.map((row) => {
    const own = new Map<string, string>()
    for (const one of attributes) {
      const code = codeIn(row[one.index]!, one)
      if (code !== '') own.set(one.id, code)
    }
    return { own, period: codeOf(row, time), value: codeOf(row, value) }
  })
  const {
    without = [],
    valued = [],
    empty = [],
  } = Object.groupBy(rows, (row) => {
    if (row.period === '') return 'without'
    return row.value === '' ? 'empty' : 'valued'
  })
  // In SDMX-CSV 2.0 a row without a time contains attributes. A series has the attributes of its first row, and rows
  // without a value may leave them empty.
  const blocks: Block[] = without.map(({ own }) => ({ components: own, observations: [] }))
  const observations = [...valued, ...empty].map(({ own, period, value }) => {
    return { components: own.set(TIME, period), value: plainNumber(value, table) }
  })
  const ids = (some: readonly Column[]) => some.map(({ id }) => id)
  return assemble(
    [...blocks, ...(observations.length === 0 ? [] : [{ components: new Map(), observations }])],
    [],
    { name: flowName(columns, table), labels: labelsOf(components, table) },
    { ...expected, dimensions: dimensionsByKeyColumn(table, columns, components) ?? expected.dimensions },
    leading.length === 0 ? [ids(components)] : [ids(leading), ids(components)],
  )
}

/** In a locale with semicolons between the cells, numbers have decimal commas, and dots between thousands. */
function plainNumber(text: string, { delimiter }: CsvTable): string {
  const isLocal = delimiter === ';' && /^[+-]?[\d.]*,\d+$/.test(text)
  return isLocal ? text.replaceAll('.', '').replace(',', '.') : text
}

function codeOf(row: readonly string[], column: Column | undefined): string {
  return column ? codeIn(row[column.index]!, column) : ''
}

/** In SDMX-CSV 2.0 a row with the action `D` tells of an observation that was deleted. */
function withoutDeleted({ columns, rows }: CsvTable): CsvTable['rows'] {
  const action = columns.findIndex((name) => name.toUpperCase() === 'ACTION')
  return action === -1 ? rows : rows.filter((row) => row[action] !== 'D')
}

/** An id as all providers write them that have names in columns of their own, and the title of such a column. */
const ID = /^[A-Z][A-Z0-9_]*$/
const TITLE = /[a-z]/

/**
 * Whether a column has the names for the codes of the one before it, as UNICEF's with labels=both: it has a title and
 * not an id, and each code has one name.
 */
function isNames(index: number, { columns, rows }: CsvTable): boolean {
  const [before = '', title = ''] = [columns[index - 1], columns[index]]
  const isTitled = ID.test(before) && TITLE.test(title) && !LABELLED.test(title)
  if (!isTitled || FRAME.test(before) || FRAME.test(title)) return false
  const names = new Map<string, string>()
  return rows.every((row) => {
    const [code, name] = [row[index - 1]!, row[index]!]
    const known = names.get(code) ?? name
    names.set(code, known)
    return known === name
  })
}

/**
 * With labels=name (SDMX-CSV 2.0, recognised by STRUCTURE_NAME) each component is followed by a column with its names;
 * in other answers some are.
 */
function columnsOf(table: CsvTable): readonly Column[] {
  const { columns } = table
  const frame = columns.filter((name) => FRAME.test(name)).length
  const first = columns.findIndex((name) => !FRAME.test(name))
  const paired = columns.includes('STRUCTURE_NAME') && first >= 0 && (columns.length - frame) % 2 === 0
  return columns.flatMap((title, index): Column[] => {
    // Ids of components contain no blanks, but the name of Eurostat's column does.
    const name = title.replaceAll(' ', '_')
    if (FRAME.test(name)) return [{ index, id: name, labels: undefined }]
    if (paired) return (index - first) % 2 === 0 ? [{ index, id: name, labels: index + 1 }] : []
    if (isNames(index, table)) return []
    const labelled = LABELLED.exec(title)
    const beside = isNames(index + 1, table) ? index + 1 : undefined
    return [{ index, id: labelled?.[1] ?? name, labels: labelled ? 'inside' : beside }]
  })
}

function codeIn(text: string, { id, labels }: Column): string {
  if (labels !== 'inside') return text
  // Times contain colons of their own, but without a blank after them.
  return TIME_COLUMN.test(id) ? text.split(': ', 1)[0]! : (LABELLED.exec(text)?.[1] ?? text)
}

/** Enough rows to distinguish a dimension from an attribute that happens to have the same code. */
const SAMPLE = 500

/**
 * Finds the dimensions with the column of keys: each part of the key has the codes of one column. The ECB writes the
 * dataflow before them (`EXR.M.USD.EUR.SP00.A`), SDMX-CSV 2.0 and the BIS do not.
 */
function dimensionsByKeyColumn(
  { rows }: CsvTable,
  columns: readonly Column[],
  components: readonly Column[],
): readonly string[] | undefined {
  const column = columns.find(({ id }) => id === 'KEY' || id === 'SERIES_KEY')
  const sample = column ? rows.slice(0, SAMPLE).filter((row) => row[column.index] !== '') : []
  const keys = sample.map((row) => row[column!.index]!.split('.'))
  for (const skipped of [0, 1]) {
    const free = new Set(components)
    const found = (keys[0] ?? []).slice(skipped).map((_, i) => {
      const isPart = (one: Column) =>
        sample.every((row, n) => codeIn(row[one.index]!, one) === keys[n]![i + skipped])
      const part = [...free].find(isPart)
      if (part) free.delete(part)
      return part?.id
    })
    if (found.length > 0 && found.every((id) => id !== undefined)) return found
  }
  return undefined
}

/** `STRUCTURE_NAME`, or the text after the reference in `ECB:EXR(1.0): Exchange Rates`. */
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
