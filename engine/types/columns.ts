import { EngineError } from '../errors.ts'
import { isPlainText } from '../util/plain-text.ts'
import { type Column, type ColumnType, decimalParts, isColumnType, TYPES_IN_WORDS } from './index.ts'

/** A column as a user declares it, before or with data. `nullable` is true by default. */
export interface DeclaredColumn {
  readonly name: string
  readonly type: ColumnType
  readonly nullable?: boolean
  readonly description?: string
  readonly title?: string | undefined
  readonly unit?: string | undefined
}

/** More than a sheet of xlsx can have, so that a very wide table can be stored and only its export to xlsx fails. */
export const MOST_COLUMNS = 20_000
const LONGEST_COLUMN_NAME = 1_000
const LONGEST_WORDS = 300

/**
 * Declared columns as complete ones.
 * @throws EngineError `invalid_columns_manifest`: no columns, a bad or repeated name, an unknown type, an unknown key
 */
export function checkColumns(declared: unknown): Column[] {
  if (!Array.isArray(declared)) throw invalid('Columns must be a list of {"name", "type"}.')
  if (declared.length > MOST_COLUMNS) {
    throw invalid(`A dataset has at most ${MOST_COLUMNS} columns; here are more.`)
  }
  const seen = new Set<string>()
  return declared.map((column: unknown, index) => {
    const checked = checkColumn(column, `Column ${index + 1}`)
    if (seen.has(checked.name)) throw invalid(`Column ${JSON.stringify(checked.name)} is declared twice.`)
    seen.add(checked.name)
    return checked
  })
}

function checkColumn(column: unknown, where: string): Column {
  if (typeof column !== 'object' || column === null || Array.isArray(column)) {
    throw invalid(`${where} must be an object with "name" and "type".`)
  }
  const given = column as Record<string, unknown>
  const { name, type, nullable = true, description = '', title, unit, ...unknown } = given
  const [extra] = Object.keys(unknown)
  if (extra !== undefined) {
    throw invalid(
      `${where} has an unknown key ${JSON.stringify(extra)}; known are name, type, nullable, description, title, unit.`,
    )
  }
  if (typeof name !== 'string' || name === '')
    throw invalid(`${where} needs a name that is text and not empty.`)
  if (name.length > LONGEST_COLUMN_NAME || !name.isWellFormed()) {
    throw invalid(`${where} needs a name of at most ${LONGEST_COLUMN_NAME} characters of valid Unicode.`)
  }
  const quoted = JSON.stringify(name)
  if (!isColumnType(type)) {
    throw invalid(
      `Column ${quoted} has an unknown type ${JSON.stringify(type)}; known are ${TYPES_IN_WORDS}.`,
    )
  }
  if (typeof nullable !== 'boolean') throw invalid(`"nullable" of column ${quoted} must be true or false.`)
  if (!isPlainText(description))
    throw invalid(`"description" of column ${quoted} must be text without control characters.`)
  const descriptions = { title, unit }
  for (const [key, value] of Object.entries(descriptions)) {
    const isText = isPlainText(value) && value.trim() !== '' && value.length <= LONGEST_WORDS
    if (value === undefined || isText) continue
    throw invalid(
      `"${key}" of column ${quoted} must be text of 1 to ${LONGEST_WORDS} characters without control characters.`,
    )
  }
  return { name, type, nullable, description, ...wordsOf(descriptions as Pick<Column, 'title' | 'unit'>) }
}

/** The words about a column that are set. */
export function wordsOf({ title, unit }: { readonly [Field in 'title' | 'unit']?: string | undefined }) {
  return { ...(title !== undefined && { title }), ...(unit !== undefined && { unit }) }
}

/** What is to be written down about a column; null removes it. */
export interface ColumnDescription {
  readonly name: string
  readonly title?: string | null
  readonly unit?: string | null
  readonly description?: string | null
}

/** The columns with other words about some of them. @throws EngineError `invalid_columns_manifest` */
export function withDescriptions(
  columns: readonly Column[],
  descriptions: readonly ColumnDescription[],
): Column[] {
  const byName = new Map(descriptions.map((one) => [one.name, one]))
  const unknown = descriptions.find(({ name }) => !columns.some((column) => column.name === name))
  if (unknown) throw invalid(`The dataset has no column ${JSON.stringify(unknown.name)}.`)
  const changed = columns.map((column) => {
    const { name, type, nullable } = column
    const { title, unit, description } = { ...column, ...byName.get(name) }
    const descriptions = wordsOf({ title: title ?? undefined, unit: unit ?? undefined })
    return { name, type, nullable, description: description ?? '', ...descriptions }
  })
  return checkColumns(changed)
}

export function sameColumns(a: readonly Column[], b: readonly Column[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** What a change of the manifest means for the existing parts. */
export type ManifestChange = 'none' | 'describe' | 'rewrite'

/**
 * Compares a new manifest with the columns of a dataset that has rows: columns may be described, made nullable and
 * reordered, nullable columns may be added, and types may be widened without loss.
 * @throws EngineError `column_conflict` for everything else, naming the column and both types
 */
export function manifestChange(from: readonly Column[], to: readonly Column[]): ManifestChange {
  const target = new Map(to.map((column) => [column.name, column]))
  for (const old of from) {
    const column = target.get(old.name)
    if (!column) {
      throw conflict(
        `Column ${JSON.stringify(old.name)} is missing from the manifest; columns can't be removed.`,
      )
    }
    if (column.type !== old.type && !widens(old.type, column.type)) {
      throw conflict(
        `Column ${JSON.stringify(old.name)} is ${old.type}; it can't become ${column.type} without loss.`,
      )
    }
    if (old.nullable && !column.nullable) {
      throw conflict(`Column ${JSON.stringify(old.name)} may hold nulls; it can't become not nullable.`)
    }
  }
  const known = new Set(from.map((column) => column.name))
  for (const column of to) {
    if (!known.has(column.name) && !column.nullable) {
      throw conflict(
        `Column ${JSON.stringify(column.name)} is new, so the rows that exist need it to be nullable.`,
      )
    }
  }
  const sameShape =
    from.length === to.length &&
    from.every((column, index) => column.name === to[index]!.name && column.type === to[index]!.type)
  if (!sameShape) return 'rewrite'
  return sameColumns(from, to) ? 'none' : 'describe'
}

/** Whether every value of one type has exactly one counterpart in the other. */
export function widens(from: ColumnType, to: ColumnType): boolean {
  if (to === 'string') return from !== 'binary'
  if (from === 'date') return to === 'timestamp' || to === 'timestamptz'
  const wide = decimalParts(to)
  if (!wide) return false
  // 19 digits hold every 64-bit integer.
  if (from === 'integer') return wide.precision - wide.scale >= 19
  const narrow = decimalParts(from)
  return (
    !!narrow && wide.scale >= narrow.scale && wide.precision - wide.scale >= narrow.precision - narrow.scale
  )
}

/** The positions of a key's columns. @throws EngineError `column_conflict` */
export function keyPositions(key: readonly string[], columns: readonly Column[]): number[] {
  if (new Set(key).size < key.length) throw conflict('The key names a column twice.')
  const missing = key.filter((name) => !columns.some((column) => column.name === name))
  if (missing.length === 0) return key.map((name) => columns.findIndex((column) => column.name === name))
  throw conflict(
    `The key has ${missing.map((name) => JSON.stringify(name)).join(', ')}, which the dataset has no column for.`,
  )
}

function invalid(message: string): EngineError {
  return new EngineError('invalid_columns_manifest', message)
}

function conflict(message: string): EngineError {
  return new EngineError('column_conflict', message)
}
