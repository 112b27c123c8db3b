import { createHash } from 'node:crypto'
import { badCell, badRow, badValue, missingValue } from './ingest/text/errors.ts'
import { accepts, kindOf, TEXT_KIND } from './ingest/text/text-kinds.ts'
import { physicalColumns, type QueryOptions } from './plan/plan.ts'
import { Query } from './query.ts'
import { Reading } from './reading/reading.ts'
import type { QueryContext } from './reading/runs.ts'
import type { Queryable } from './snapshot.ts'
import type { Column } from './types/index.ts'
import { counted } from './util/counted.ts'

/** A value of a row in memory, as in uploads of JSON: dates and times are ISO text, bytes may also be base64. */
export type Cell = string | number | bigint | boolean | Uint8Array | null

/** Rows in memory. */
export interface Relation extends Queryable {
  query(options?: QueryOptions): Query
}

/**
 * Every value becomes the text that DuckDB reads as exactly this value.
 * @throws EngineError `invalid_upload` if a value is not of its column's type
 */
export function relationOf(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  { executor, counts }: Pick<QueryContext, 'executor' | 'counts'>,
): Relation {
  const texts = rows.map((row, index) => rowOf(row, columns, index + 1))
  const json = JSON.stringify(texts)
  const context: QueryContext = {
    executor,
    counts,
    reading: (plan) => new Reading(plan),
    // With other column types, the same texts are other values.
    identity: createHash('sha256').update(JSON.stringify(columns)).update(json).digest('base64url'),
    source: {
      columns: physicalColumns(columns),
      rows: rows.length,
      rowBytes: rows.length === 0 ? 0 : Math.ceil(json.length / rows.length),
      scan: (from, to) => {
        const whole = from === 0 && to >= rows.length
        return { kind: 'inline', json: whole ? json : JSON.stringify(texts.slice(from, to)) }
      },
    },
  }
  return { query: (options) => new Query(context, options) }
}

function rowOf(row: readonly Cell[], columns: readonly Column[], number: number): (string | null)[] {
  if (!Array.isArray(row)) {
    throw badRow(number, ' is no list of values in the order of the columns.')
  }
  if (row.length !== columns.length) {
    throw badRow(number, ` has ${counted(row.length, 'value')} for ${counted(columns.length, 'column')}.`)
  }
  return columns.map((column, index) => textOf(row[index], column, number))
}

/** The text of a value as DuckDB reads it. @param row its number, for errors */
export function textOf(cell: Cell | undefined, { name, type, nullable }: Column, row: number): string | null {
  if (cell === null || cell === undefined) {
    if (!nullable) throw missingValue(row, name)
    return null
  }
  if (typeof cell === 'number' && type === 'double') return Object.is(cell, -0) ? '-0' : String(cell)
  const bytes = cell instanceof Uint8Array
  if (bytes ? type !== 'binary' : typeof cell === 'object') {
    const orBytes = type === 'binary' ? ', or as bytes' : ''
    throw badCell(
      row,
      name,
      `values of type ${type} are given as text, numbers, true, false or null${orBytes}.`,
    )
  }
  const text = bytes ? Buffer.from(cell).toString('base64') : String(cell)
  if (!text.isWellFormed()) {
    throw badCell(row, name, 'the text holds half a character.')
  }
  if (type === 'string') return text
  const kind = kindOf(text)
  const isText = bytes || typeof cell === 'string'
  if (!accepts(type, kind, isText, () => text)) throw badValue(row, name, text, type, isText)
  // DuckDB reads offsets only behind seconds.
  return kind === TEXT_KIND.timestamptzMinutes ? `${text.slice(0, 16)}:00${text.slice(16)}` : text
}
