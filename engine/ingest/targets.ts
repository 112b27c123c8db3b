import { EngineError, hint } from '../errors.ts'
import { checkColumns, type DeclaredColumn, widens } from '../types/columns.ts'
import type { Column, ColumnType } from '../types/index.ts'
import type { IngestRequest, MissingColumns, UnnamedColumns, UploadOptions } from './request.ts'
import { malformed } from './text/errors.ts'
import { inferType } from './text/text-kinds.ts'

/** A column of the part to be written. */
export interface Target extends Omit<Column, 'type'> {
  /** Undefined where the type is to be inferred. */
  readonly type: ColumnType | undefined
  /** The position of the column in the upload; undefined where the upload lacks it, so that all its values are null. */
  readonly source: number | undefined
  /** Set where a column at the start has no name and is left out unless it has a value, with the error that it is then. */
  readonly spare?: { readonly conflict?: EngineError }
}

/** The columns that are known before the upload is looked at. */
export interface KnownColumns {
  /** Those of the dataset where it has some, else those that the request declares. */
  readonly columns: readonly Column[]
  /** Whether they are the dataset's, so that the part has exactly these. */
  readonly ofDataset: boolean
  /** Whether the upload may have more. */
  readonly open: boolean
  /** What becomes of those that the upload does not name; null where nothing says that. */
  readonly missing: MissingColumns
  /** The names of columns that every row has to name. */
  readonly key: readonly string[]
  /** Whether times without an offset are of a known zone. */
  readonly isZoned: boolean
}

/**
 * Brings together the columns that the dataset has and those that the request declares.
 * @throws EngineError `column_conflict` where they differ, `invalid_columns_manifest`
 */
export function knownColumns(
  request: Pick<IngestRequest, 'existing' | 'addColumns' | 'missing' | 'key' | 'options'>,
  declared: readonly DeclaredColumn[] = [],
): KnownColumns {
  const { existing = [], addColumns = false, missing = 'null', key = [], options } = request
  const isZoned = options?.zone !== undefined
  const checked = declared.length > 0 ? checkColumns(declared) : []
  if (existing.length === 0) return { columns: checked, ofDataset: false, open: true, missing, key, isZoned }
  const known = byName(existing)
  const added = addColumns ? checked.filter(({ name }) => !known.has(name)) : []
  for (const column of checked) if (!added.includes(column)) conflictUnless(known.get(column.name), column)
  return { columns: [...existing, ...added], ofDataset: true, open: addColumns, missing, key, isZoned }
}

/**
 * @throws EngineError `missing_columns` if an upload lacks columns of the dataset and nothing says what becomes of them, or
 * columns of the key
 */
export function requireColumns(
  { columns: known, missing, key }: Pick<KnownColumns, 'columns' | 'missing' | 'key'>,
  isNamed: (name: string) => boolean,
): void {
  const unnamed = known.map(({ name }) => name).filter((name) => !isNamed(name))
  const ofKey = unnamed.filter((name) => key.includes(name))
  const columns = ofKey.length > 0 ? ofKey : missing === 'error' ? unnamed : []
  if (columns.length === 0) return
  const named = columns.map((name) => JSON.stringify(name)).join(', ')
  const what = `${columns.length === 1 ? 'column' : 'columns'} ${named}`
  throw new EngineError(
    'missing_columns',
    ofKey.length > 0
      ? `The upload lacks the ${what} of the key, by which rows are found.`
      : `The upload lacks the ${what} of the dataset. With ${hint('missing=null')}, ` +
          `${columns.length === 1 ? 'it is' : 'they are'} null in the rows of the upload; an upsert (${hint('mode=upsert')}) keeps the values that are there.`,
    { details: { columns } },
  )
}

/** The columns that an upload does not name, in formats whose rows all name the same. */
export function unnamedIn(targets: readonly Target[]): UnnamedColumns {
  const all = targets.flatMap(({ source }, index) => (source === undefined ? [index] : []))
  return { all, some: [], marked: false }
}

function byName(columns: readonly Column[]): ReadonlyMap<string, Column> {
  return new Map(columns.map((column) => [column.name, column]))
}

/**
 * Matches the columns of an upload that names its columns with those of the dataset, by name. If the dataset has no
 * columns yet, they keep the upload's order, and a declared type takes the place of an inferred one.
 * @throws EngineError `column_conflict`, `missing_columns`, `invalid_upload`
 * @param names of the upload's columns
 * @param types of the columns in formats that fix them, as Parquet does: the wanted types have to hold all of their
 * values. The values of text formats can be read as any type.
 * @param spare how many columns at the start are left out unless they have a value
 */
export function layColumns(
  known: KnownColumns,
  names: readonly string[],
  types: readonly (ColumnType | undefined)[] = [],
  spare = 0,
): Target[] {
  checkNames(names)
  const { columns, ofDataset, open, missing } = known
  const byNames = byName(columns)
  const given = names.map((name, index) => {
    const type = types[index]
    return { name, type: type && wantedType(type, byNames.get(name)?.type, known.isZoned) }
  })
  const position = new Map(given.map(({ name }, index) => [name, index]))
  const target = ({ name, type }: (typeof given)[number], source: number): Target => {
    const column = byNames.get(name)
    const conflict = column || !open ? conflictOf(column, { name, type }) : undefined
    const isSpare = !column && source < spare
    if (conflict && !isSpare) throw conflict
    if (column) return { ...column, source }
    const own = { name, type, nullable: true, description: '', source }
    return isSpare ? { ...own, spare: { ...(conflict && { conflict }) } } : own
  }
  if (ofDataset) {
    const fields = given.map(target)
    requireColumns(known, (name) => position.has(name))
    const targets = columns.map((column): Target => {
      const source = position.get(column.name)
      if (source !== undefined || column.nullable || missing === 'keep') return { ...column, source }
      throw new EngineError(
        'column_conflict',
        `The upload has no column ${JSON.stringify(column.name)}, which the dataset wants and which is not nullable.`,
        { details: { column: column.name, given: null } },
      )
    })
    return [...targets, ...fields.filter(({ name }) => !byNames.has(name))]
  }
  for (const column of columns) {
    if (!position.has(column.name)) {
      throw malformed(`Column ${JSON.stringify(column.name)} is declared, but the upload does not have it.`)
    }
  }
  return given.map(target)
}

/**
 * The type of a column of a typed format: the one that the dataset or the request wants, where it holds all values of the
 * column's own type. A text column may also be wanted as JSON or UUIDs, because exports write these as text; its values are
 * then checked one by one.
 */
function wantedType(given: ColumnType, wanted: ColumnType | undefined, isZoned: boolean): ColumnType {
  if (wanted === undefined) return given
  const isTime = isZoned && isLocalTime(given, wanted)
  return isTime || widens(given, wanted) || isTextual(given, wanted) ? wanted : given
}

/** Whether the values of a column are times or days whose zone the option `zone` has to say. */
export function isLocalTime(given: ColumnType, wanted: ColumnType): boolean {
  return wanted === 'timestamptz' && (given === 'timestamp' || given === 'date')
}

/** Whether this is a text column whose values have to be checked one by one to be of the wanted type. */
export function isTextual(given: ColumnType, wanted: ColumnType): boolean {
  return given === 'string' && (wanted === 'json' || wanted === 'uuid')
}

/** The targets that the upload has, in the order of its columns. */
export function fieldsOf(targets: readonly Target[]): Target[] {
  return targets.filter(({ source }) => source !== undefined).sort((a, b) => a.source! - b.source!)
}

/** The targets as columns of the dataset. @param kinds of the values of each field, for types that are to be inferred */
export function settledColumns(targets: readonly Target[], kinds: readonly number[] = []): Column[] {
  return targets.map(({ name, type, source, ...words }) => ({
    name,
    type: type ?? inferType(kinds[source!]!),
    ...words,
  }))
}

/** @throws EngineError `invalid_upload` if a name is missing, occurs twice or is not allowed */
export function checkNames(names: readonly string[]): void {
  const seen = new Map<string, number>()
  names.forEach((name, index) => {
    if (name === '') throw malformed(`Column ${index + 1} has no name.`)
    const before = seen.get(name)
    if (before !== undefined) {
      throw malformed(`Columns ${before + 1} and ${index + 1} have the same name ${JSON.stringify(name)}.`)
    }
    seen.set(name, index)
  })
  try {
    checkColumns(names.map((name) => ({ name, type: 'string' })))
  } catch (error) {
    throw error instanceof EngineError ? malformed(error.marked.message) : error
  }
}

const TOGETHER = hint('columns=replace')

export const UNKNOWN_COLUMN =
  'that the dataset does not have. Column names are case-sensitive; declare new columns first, append with ' +
  `${hint('columns=add')}, or replace columns and rows together (${TOGETHER}).`

interface Given {
  readonly name: string
  readonly type: ColumnType | undefined
}

function conflictUnless(wanted: Column | undefined, given: Given): void {
  const conflict = conflictOf(wanted, given)
  if (conflict) throw conflict
}

/** The error of a column that the dataset does not have, or has with another type. */
function conflictOf(wanted: Column | undefined, given: Given): EngineError | undefined {
  const name = JSON.stringify(given.name)
  if (wanted === undefined) {
    const type = given.type ? ` of type ${given.type}` : ''
    return new EngineError('column_conflict', `The upload has a column ${name}${type} ${UNKNOWN_COLUMN}`, {
      details: { column: given.name, wanted: null, given: given.type ?? null },
    })
  }
  if (given.type !== undefined && given.type !== wanted.type) {
    return new EngineError(
      'column_conflict',
      `Column ${name} is ${given.type} in the upload; the dataset wants ${wanted.type}. ${isLocalTime(given.type, wanted.type) ? `Say which zone its times are of, with ${hint('zone=Europe/Berlin')}.` : `Both can be replaced together (${TOGETHER}).`}`,
      { details: { column: given.name, wanted: wanted.type, given: given.type } },
    )
  }
  return undefined
}

/**
 * Matches the columns below a header with those of the dataset, as `layColumns` does.
 * @throws EngineError `column_conflict`, `missing_columns`, `invalid_upload`
 */
export function layHeader(known: KnownColumns, header: readonly string[], options: UploadOptions): Target[] {
  const unnamed = options.names === 'number' ? header.findIndex((name) => name !== '') : 0
  return layColumns(known, namesOfColumns(header, options), [], unnamed)
}

/** The names of columns according to a header of which some names may be missing or occur twice. */
export function namesOfColumns(header: readonly string[], { names }: UploadOptions = {}): readonly string[] {
  if (names === 'index') return header.map((name, at) => (at === 0 && name === '' ? 'index' : name))
  return names === 'number' ? numbered(header) : header
}

/**
 * The names of columns under a header of several rows, from above to below with a space between them. A name goes on to
 * the right over columns that have a name below it, as a merged cell does, as far as the names above are the same.
 */
export function joinedHeader(rows: readonly (readonly string[])[]): readonly string[] {
  const width = Math.max(...rows.map(({ length }) => length))
  const names = Array.from({ length: width }, (): string[] => [])
  rows.forEach((row, level) => {
    let group = ''
    names.forEach((above, at) => {
      const own = row[at] ?? ''
      const isOver = rows.slice(level + 1).some((lower) => (lower[at] ?? '') !== '')
      if (own !== '' || names[at - 1]?.slice(0, level).join() !== above.join()) group = isOver ? own : ''
      const name = own === '' && isOver ? group : own
      above.push(name)
    })
  })
  return names.map((all) => all.filter((name) => name !== '').join(' '))
}

/** The error of a file that ends within its header. */
export const shortHeader = ({ headerRows }: UploadOptions) =>
  malformed(`The file has fewer rows than the ${headerRows} of headerRows.`, { option: 'headerRows' })

/** Whether a header can be used only with numbers in it. */
export function needsNumbers(header: readonly string[]): boolean {
  return header.includes('') || new Set(header).size < header.length
}

/** `a,,a` becomes `a,column_2,a_2`. */
function numbered(header: readonly string[]): readonly string[] {
  const taken = new Set(header)
  const seen = new Set<string>()
  return header.map((name, at) => {
    const plain = name === '' ? `column_${at + 1}` : name
    if (name !== '' && !seen.has(name)) {
      seen.add(name)
      return name
    }
    let unique = plain
    for (let n = 2; taken.has(unique); n++) unique = `${plain}_${n}`
    taken.add(unique)
    return unique
  })
}
