import { type Column, icebergName } from '../types/index.ts'

/** Whether the columns of a table have the names that users gave them, or those in the part files (`c0`, `c1` …). */
export const NAMED = 'named'
export const PLAIN = 'plain'
export type Naming = typeof NAMED | typeof PLAIN

/** The id of the column at a position. Parts are written with the same ids (`engine/ingest/part.ts`). */
export function fieldId(index: number): number {
  return index + 1
}

/** The schema of a table (Iceberg table spec, Appendix C, Schemas). */
export function schemaOf(columns: readonly Column[], naming: Naming) {
  return {
    type: 'struct',
    'schema-id': 0,
    fields: columns.map(({ name, type, nullable, description }, index) => ({
      id: fieldId(index),
      name: naming === PLAIN ? `c${index}` : name,
      required: !nullable,
      type: icebergName(type),
      ...(naming === NAMED && description && { doc: description }),
    })),
  } as const
}

/** Maps ids to the names of columns in parts that older programs wrote without ids (table spec, Column Projection). */
export function nameMapping(columns: readonly Column[]): string {
  return JSON.stringify(columns.map((_, index) => ({ 'field-id': fieldId(index), names: [`c${index}`] })))
}
