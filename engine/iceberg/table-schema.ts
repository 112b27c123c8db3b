import { isAttached, type Version } from '../catalog/records.ts'
import { ORDINAL, ORDINAL_FIELD_ID } from '../parquet/ordinals.ts'
import { type Column, icebergName } from '../types/index.ts'

/**
 * Whether the columns of a table have the names that users gave them, or those in the part files (`c0`, `c1` …). Plain
 * tables also tell the order of the rows, by two more columns whose sum is the number of a row, from 0: `r`, its number
 * in its part, and `f`, the number of rows in the parts before.
 */
export const NAMED = 'named'
export const PLAIN = 'plain'
export type Naming = typeof NAMED | typeof PLAIN

/** The id of the column at a position. Parts are written with the same ids (`engine/ingest/parts/part.ts`). */
export function fieldId(index: number): number {
  return index + 1
}

/** How many rows come before a row's part. No file has this column: its value is the file's partition. */
export const FIRST = 'f'
const FIRST_FIELD_ID = ORDINAL_FIELD_ID + 1

/** Whether the rows of all parts are numbered, which older programs did not do. */
export function isNumbered({ columns, parts }: Pick<Version, 'columns' | 'parts'>): boolean {
  return parts.every(({ statistics }) => !!statistics?.[columns.length])
}

/** The schema of a table (Iceberg table spec, Appendix C, Schemas). */
export function schemaOf(version: Version, naming: Naming) {
  const fields = version.columns.map(({ name, type, nullable, description }, index) => ({
    id: fieldId(index),
    name: naming === PLAIN ? `c${index}` : name,
    required: !nullable,
    type: icebergName(type),
    ...(naming === NAMED && description && { doc: description }),
  }))
  const order = [
    { id: ORDINAL_FIELD_ID, name: ORDINAL, required: true, type: 'long' },
    // pyiceberg fills a column from the partition only if it is not required.
    { id: FIRST_FIELD_ID, name: FIRST, required: false, type: 'long' },
  ]
  return {
    type: 'struct',
    'schema-id': 0,
    fields: isOrdered(version, naming) ? [...fields, ...order] : fields,
  } as const
}

/** Whether the table tells the order of its rows. */
export function isOrdered(version: Version, naming: Naming): boolean {
  return naming === PLAIN && isNumbered(version)
}

/** How a table is partitioned (table spec, Partitioning): one with an order by `f`, every other not at all. */
export function partitionOf(version: Version, naming: Naming) {
  const first = { name: FIRST, transform: 'identity', 'source-id': FIRST_FIELD_ID, 'field-id': 1000 }
  return isOrdered(version, naming) ? [first] : []
}

/**
 * Maps ids to the names of columns in parts that older programs, or others, wrote without ids (table spec, Column
 * Projection).
 */
export function nameMapping({ columns, parts }: Version): string {
  const nameOf = isAttached(parts) ? ({ name }: Column) => name : (_: Column, index: number) => `c${index}`
  return JSON.stringify(
    columns.map((column, index) => ({ 'field-id': fieldId(index), names: [nameOf(column, index)] })),
  )
}
