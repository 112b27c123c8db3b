import { open } from 'node:fs/promises'
import type { Duck, RunOptions } from '../../duckdb/duck.ts'
import { valueText } from '../../duckdb/value-text.ts'
import { EngineError } from '../../errors.ts'
import { runtimeFilterError, THE_EXPRESSION } from '../../filter/sql/runtime-errors.ts'
import { FIELD, groupsOf, metasOf, rowGroups } from '../../parquet/footer.ts'
import { type Joined, joinFiles } from '../../parquet/joined.ts'
import { ORDINAL } from '../../parquet/ordinals.ts'
import { fileEnd, footerOf, MAGIC, readExactly } from '../../parquet/parquet-file.ts'
import { readParts } from '../../parquet/read-parts.ts'
import { readStruct } from '../../parquet/thrift.ts'
import { widens } from '../../types/columns.ts'
import { type Column, type ColumnType, quoteLiteral, sqlType } from '../../types/index.ts'
import { writeWhole } from '../../util/whole-file.ts'
import type { SizedPart } from '../request.ts'
import { RANGES } from '../text/bounds.ts'
import { finishPart, measure, type WrittenPart, writePart } from './part.ts'

/** Parts of one dataset, and the columns with which their rows are to be written. */
export interface RewriteInput {
  readonly parts: readonly string[]
  readonly target: string
  readonly from: readonly Column[]
  readonly to: readonly Column[]
}

/**
 * Writes the rows of parts, in order, as one part under a changed manifest: columns may be added as nulls, reordered, and
 * widened.
 * @throws EngineError `column_conflict` where a type can't become the other without loss
 */
export async function rewriteParts(
  duck: Duck,
  { parts, target, from, to }: RewriteInput,
  options: RunOptions,
): Promise<SizedPart> {
  const position = new Map(from.map((column, index) => [column.name, index]))
  const selected = to.map((column, index) => {
    const old = position.get(column.name)
    const sql =
      old === undefined
        ? `CAST(NULL AS ${sqlType(column.type)})`
        : widened(from[old]!, column.type, `c${old}`)
    return `${sql} AS c${index}`
  })
  const source = readParts(parts)
  const estimate = await measure(duck, source, from, options)
  const select = `SELECT ${selected.join(', ')} FROM ${source}`
  const written = await writePart(duck, select, target, { ...estimate, columns: to }, options)
  const { rawBytes } = from === to ? estimate : await measure(duck, readParts([target]), to, options)
  return { ...written, rawBytes }
}

/** Rows that a relation finds in parts, as c0, c1, …, each with its place, and what is known of them before. */
export interface CompareInput {
  readonly parts: readonly string[]
  readonly relation: string
  readonly target: string
  readonly columns: readonly Column[]
  readonly size: { readonly rows: number; readonly rawBytes: number }
}

/** What DuckDB may use to compare rows; more of them go to the disk. With 128 MiB, wide rows do not fit. */
const COMPARE_MEMORY = '192MiB'

/** Writes the rows that a relation finds as one part, in order, and in little memory if it can be done. */
export async function writeCompared(
  duck: Duck,
  { relation, target, columns, size }: CompareInput,
  options: RunOptions,
): Promise<WrittenPart> {
  const names = columns.map((_, index) => `c${index}`)
  const sql = `SELECT ${names.join(', ')} FROM ${relation} ORDER BY file_index, file_row_number`
  const write = (duck: Duck) => writePart(duck, sql, target, { ...size, columns }, options)
  const small = await duck.withMemory(COMPARE_MEMORY)
  try {
    return await write(small)
  } catch (error) {
    if (!(error instanceof EngineError && error.code === 'overloaded')) throw error
    return await write(duck)
  } finally {
    await small.close()
  }
}

/** SQL that converts an expression of one column type to another type that holds all of its values. */
export function widened(from: Pick<Column, 'name' | 'type'>, to: ColumnType, sql: string): string {
  if (from.type === to) return sql
  if (!widens(from.type, to)) {
    throw new EngineError(
      'column_conflict',
      `Column ${JSON.stringify(from.name)} is ${from.type}; it can't become ${to} without loss.`,
      { details: { column: from.name, wanted: to, given: from.type } },
    )
  }
  return to === 'string' ? valueText(from.type, sql) : `CAST(${sql} AS ${sqlType(to)})`
}

/** Rows `from` (inclusive) to `to` (exclusive) of a part, and the file that gets them. */
interface Cut {
  readonly from: number
  readonly to: number
  readonly target: string
}

export interface CutInput {
  readonly part: string
  readonly cuts: readonly Cut[]
  readonly columns: readonly Column[]
  /** The bytes of all values of the part; each new part is given a share according to its rows. */
  readonly rawBytes: number
}

const COPIED_BYTES = 1 << 20

/**
 * Writes the rows of a part as several parts. DuckDB could split them over several files in one pass, but would not
 * keep their order then. Row groups are copied as they are, so a part ends with the one that ends nearest to the wanted
 * row. Wide rows are cut within row groups, which have to be written anew.
 */
export async function cutPart(
  duck: Duck,
  { part, cuts, columns, rawBytes }: CutInput,
  options: RunOptions,
): Promise<SizedPart[]> {
  const names = columns.map((_, index) => `c${index}`)
  const { footer } = await footerOf(part)
  const ends = groupEnds(footer, cuts)
  const share = (rows: number) => Math.round((rawBytes * rows) / cuts.at(-1)!.to)
  const made: SizedPart[] = []
  for (const [index, { from, to, target }] of cuts.entries()) {
    const groups = ends && { from: ends[index - 1] ?? 0, to: ends[index]! }
    const stored = names.map((name, place) => ({ name, stored: place }))
    const copied = groups && joinFiles([{ footer, groups }], stored)
    let written: WrittenPart
    if (copied) {
      await copyInto(target, part, copied, options.signal)
      written = await finishPart(target, columns)
    } else {
      const rows = to - from
      const select = `SELECT ${names.join(', ')} FROM ${readParts([part])} WHERE file_row_number >= ${from} AND file_row_number < ${to}`
      written = await writePart(duck, select, target, { rows, rawBytes: share(rows), columns }, options)
    }
    made.push({ ...written, rawBytes: share(written.rows) })
  }
  return made
}

/** For each cut, the number of row groups before its end; undefined if there is a cut without any. */
function groupEnds(footer: Uint8Array, cuts: readonly Cut[]): number[] | undefined {
  let rows = 0
  const starts = [0, ...rowGroups(footer).map((group) => (rows += group.rows))]
  const ends = cuts.map(({ to }) => {
    const next = starts.findIndex((start) => start >= to)
    return starts[next]! - to > to - starts[next - 1]! ? next - 1 : next
  })
  return ends.every((end, index) => end > (ends[index - 1] ?? 0)) ? ends : undefined
}

async function copyInto(
  target: string,
  part: string,
  { copied, footer }: Joined,
  signal: AbortSignal | undefined,
): Promise<void> {
  await using from = await open(part)
  async function* bytes() {
    yield MAGIC
    for (const { from: start, to: end } of copied) {
      for (let at = start; at < end; at += COPIED_BYTES) {
        signal?.throwIfAborted()
        yield await readExactly(from, at, Math.min(COPIED_BYTES, end - at))
      }
    }
    yield fileEnd(footer)
  }
  await writeWhole(target, bytes())
}

/** Which rows of parts: those for which a condition holds, or those with the same key as a row of `like`. */
export type RowSelection =
  | { readonly where: string; readonly parameters: readonly string[] }
  | { readonly like: readonly string[]; readonly on: readonly number[] }

export interface FindInput {
  readonly parts: readonly string[]
  /** The most rows that one of them has. */
  readonly rows: number
  readonly selection: RowSelection
}

/** Rows of one part, a bit for each: text of 0 and 1. */
export interface FoundRows {
  readonly count: number
  readonly bits: string
}

/** A new value for columns of the found rows: SQL over c0, c1, … by the column's position. */
export interface SetColumns {
  readonly sql: Readonly<Record<number, string>>
  readonly parameters: readonly string[]
}

export interface EditInput {
  readonly part: string
  readonly target: string
  readonly columns: readonly Column[]
  /** How many of the columns the part has; the others are null in its rows. */
  readonly oldColumns: number
  /** Empty where no rows were found. */
  readonly bits: string
  readonly size: { readonly rows: number; readonly rawBytes: number }
  /** Without it, the found rows are left out. */
  readonly set?: SetColumns | undefined
}

/** SQL by which rows p and u have the same key. */
export const sameKey = (on: readonly number[]) =>
  on.map((index) => `p.c${index} IS NOT DISTINCT FROM u.c${index}`).join(' AND ')

/**
 * Finds rows of parts, by a condition or by their keys. Parts without such rows are left out of the result, which has the
 * others by their index.
 * @throws EngineError `filter_failed`
 */
export async function findRows(
  duck: Duck,
  { parts, rows, selection }: FindInput,
  options: RunOptions,
): Promise<Record<number, FoundRows>> {
  const [from, parameters] =
    'where' in selection
      ? [`${readParts(parts)} WHERE ${selection.where}`, selection.parameters]
      : [
          `(SELECT *, file_index, file_row_number FROM ${readParts(parts)}) p SEMI JOIN ${readParts(selection.like)} u ON ${sameKey(selection.on)}`,
          [],
        ]
  const found = await explained(
    duck.run(
      `SELECT CAST(file_index AS INTEGER), count(*), CAST(bitstring_agg(file_row_number, 0, ${rows - 1}) AS VARCHAR)
       FROM ${from} GROUP BY ALL`,
      { ...options, parameters },
    ),
  )
  return Object.fromEntries(
    found.map(([file, count, bits]) => [Number(file), { count: Number(count), bits: String(bits) }]),
  )
}

/** Writes the rows of a part without the found ones, or with other values in these. @throws EngineError `filter_failed` */
export async function editPart(
  duck: Duck,
  { part, target, columns, oldColumns, bits, size, set }: EditInput,
  options: RunOptions,
): Promise<SizedPart> {
  // A join would leave the order of the rows open.
  const isFound = bits === '' ? 'false' : `get_bit('${bits}'::BIT, CAST(file_row_number AS INTEGER)) = 1`
  const selected = columns.map(({ type }, index) => {
    if (index >= oldColumns) return `CAST(NULL AS ${sqlType(type)}) AS c${index}`
    const value = set?.sql[index]
    if (value === undefined) return `c${index}`
    return `CASE WHEN ${isFound} THEN ${withinRange(`CAST(${value} AS ${sqlType(type)})`, columns[index]!)} ELSE c${index} END AS c${index}`
  })
  const where = set ? '' : ` WHERE NOT (${isFound})`
  const select = `SELECT ${selected.join(', ')} FROM ${readParts([part])}${where}`
  const planned = { ...size, columns, parameters: set?.parameters }
  const written = await explained(writePart(duck, select, target, planned, options))
  const empty = columns.findIndex(({ nullable }, index) => !nullable && written.nulls[index]! > 0)
  if (empty >= 0) {
    throw new EngineError(
      'filter_failed',
      `The change makes column ${JSON.stringify(columns[empty]!.name)} null in some rows, but it is not nullable.`,
    )
  }
  return { ...written, rawBytes: Math.ceil((size.rawBytes * written.rows) / size.rows) }
}

/** A new value; where it is a day or moment that no upload may hold, the change fails. */
function withinRange(value: string, { name, type }: Column): string {
  const condition = RANGES[type]?.(value)
  if (condition === undefined) return value
  const what = `${THE_EXPRESSION} fails on a row: column ${JSON.stringify(name)} holds no ${type} outside of the years 1 to 9999.`
  return `CASE WHEN ${value} IS NULL OR ${condition} THEN ${value} ELSE error(${quoteLiteral(what)}) END`
}

async function explained<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw runtimeFilterError(error, 'The change') ?? error
  }
}

export interface RepeatedInput {
  /** Parts in the order of their rows. */
  readonly parts: readonly string[]
  /** The positions of the columns of the key. */
  readonly on: readonly number[]
  /** Looks for rows whose key one of these has; without them, for rows of `parts` with the same key. */
  readonly like?: readonly string[] | undefined
}

/** The place of a row: which part, and which row in it. */
export type Place = readonly [part: number, row: number]

/** Rows with a key that may not be repeated. */
export interface Repeated {
  readonly places: readonly Place[]
  /** The values of the key, as text. */
  readonly key: readonly (string | null)[]
}

const MOST_REPEATED = 20

/** Finds rows that repeat a key, at most twenty. */
export async function findRepeated(
  duck: Duck,
  { parts, on, like }: RepeatedInput,
  options: RunOptions,
): Promise<Repeated[]> {
  const names = on.map((index) => `c${index}`)
  const texts = names.map((name) => `CAST(${name} AS VARCHAR)`)
  const p = `(SELECT ${names.join(', ')}, CAST(file_index AS BIGINT) * ${2 ** 40} + file_row_number AS place FROM ${readParts(parts)}) p`
  // Two places for each key would take more memory than there is where all keys are different, as they mostly are.
  const repeated = `(SELECT ${names.join(', ')} FROM ${readParts(parts)} GROUP BY ${names.join(', ')} HAVING count(*) > 1)`
  const sql = like
    ? `SELECT place, place, ${texts.join(', ')} FROM ${p} SEMI JOIN ${readParts(like)} u ON ${sameKey(on)}`
    : `SELECT min(place), min(place, 2)[2], ${texts.join(', ')} FROM ${p} SEMI JOIN ${repeated} u ON ${sameKey(on)} GROUP BY ${names.join(', ')}`
  const rows = await duck.run(`${sql} ORDER BY 1 LIMIT ${MOST_REPEATED}`, options)
  return rows.map(([first, second, ...key]) => ({
    places: [...new Set([first, second].map(Number))].map(
      (at): Place => [Math.floor(at / 2 ** 40), at % 2 ** 40],
    ),
    key: key.map((value) => (value === null ? null : String(value))),
  }))
}

/** What all pages of a part say. */
export interface VerifiedPart {
  readonly rows: number
  /** Its columns without the ordinals. */
  readonly columns: readonly string[]
  /** The positions of the binary columns with a Bloom filter, by which DuckDB loses rows. */
  readonly filtered: readonly number[]
}

/** Decodes every page of a part. @throws if it can't be read to its end */
export async function verifyPart(
  duck: Duck,
  { part, attached }: { readonly part: string; readonly attached?: readonly Column[] | undefined },
  options: RunOptions,
): Promise<VerifiedPart> {
  const source = readParts([part], attached)
  const described = (await duck.run(`DESCRIBE SELECT * FROM ${source}`, options)).slice(0, attached?.length)
  const columns = described.map((row) => String(row[0]))
  const hashes = columns.map((name) => `bit_xor(hash(${JSON.stringify(name)}))`)
  const [row] = await duck.run(`SELECT ${['count(*)', ...hashes].join(', ')} FROM ${source}`, options)
  const groups = groupsOf(readStruct((await footerOf(part)).footer)).map(metasOf)
  const isFiltered = (index: number) => groups.some((metas) => metas[index]!.has(FIELD.meta.bloomOffset))
  return {
    rows: Number(row![0]),
    columns: columns.filter((name) => name !== ORDINAL),
    filtered: [...columns.keys()].filter((index) => described[index]![1] === 'BLOB' && isFiltered(index)),
  }
}
