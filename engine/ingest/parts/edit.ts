import type { Duck, RunOptions } from '../../duckdb/duck.ts'
import { EngineError } from '../../errors.ts'
import { runtimeFilterError } from '../../filter/sql/runtime-errors.ts'
import { type Column, sqlType } from '../../types/index.ts'
import type { SizedPart } from '../request.ts'
import { writePart } from './part.ts'
import { readParts } from './parts.ts'

/** Which rows of parts: those for which a condition holds, or those with the same key as a row of `like`. */
export type WantedRows =
  | { readonly where: string; readonly parameters: readonly string[] }
  | { readonly like: readonly string[]; readonly on: readonly number[] }

export interface FindInput {
  readonly parts: readonly string[]
  /** The most rows that one of them has. */
  readonly rows: number
  readonly wanted: WantedRows
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
  readonly bits: string
  readonly size: { readonly rows: number; readonly rawBytes: number }
  /** Without it, the found rows are left out. */
  readonly set?: SetColumns | undefined
}

/** SQL by which rows p and u have the same key. */
const same = (on: readonly number[]) =>
  on.map((index) => `p.c${index} IS NOT DISTINCT FROM u.c${index}`).join(' AND ')

/**
 * Finds rows of parts, by a condition or by their keys. Parts without such rows are left out of the result, which has the
 * others by their index.
 * @throws EngineError `filter_failed`
 */
export async function findRows(
  duck: Duck,
  { parts, rows, wanted }: FindInput,
  options: RunOptions,
): Promise<Record<number, FoundRows>> {
  const [from, parameters] =
    'where' in wanted
      ? [`${readParts(parts)} WHERE ${wanted.where}`, wanted.parameters]
      : [
          `(SELECT *, file_index, file_row_number FROM ${readParts(parts)}) p SEMI JOIN ${readParts(wanted.like)} u ON ${same(wanted.on)}`,
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
  { part, target, columns, bits, size, set }: EditInput,
  options: RunOptions,
): Promise<SizedPart> {
  // A join would leave the order of the rows open.
  const isFound = `get_bit('${bits}'::BIT, CAST(file_row_number AS INTEGER)) = 1`
  const selected = columns.map(({ type }, index) => {
    const value = set?.sql[index]
    if (value === undefined) return `c${index}`
    return `CASE WHEN ${isFound} THEN CAST(${value} AS ${sqlType(type)}) ELSE c${index} END AS c${index}`
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
  const sql = like
    ? `SELECT place, place, ${texts.join(', ')} FROM ${p} SEMI JOIN ${readParts(like)} u ON ${same(on)}`
    : `SELECT min(place), min(place, 2)[2], ${texts.join(', ')} FROM ${p} GROUP BY ${names.join(', ')} HAVING count(*) > 1`
  const rows = await duck.run(`${sql} ORDER BY 1 LIMIT ${MOST_REPEATED}`, options)
  return rows.map(([first, second, ...key]) => ({
    places: [...new Set([first, second].map(Number))].map(
      (at): Place => [Math.floor(at / 2 ** 40), at % 2 ** 40],
    ),
    key: key.map((value) => (value === null ? null : String(value))),
  }))
}
