import type { Duck, RunOptions } from '../../duckdb/duck.ts'
import { readParts } from '../parts/parts.ts'
import { same } from './edit.ts'

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
