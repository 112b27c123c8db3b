import type { Column } from '../types/index.ts'
import { icebergType } from './types.ts'

/** How the columns of a table are called: as people call them, or as they are called in the parts (`c0`, `c1` …). */
export const NAMED = 'named'
export const PLAIN = 'plain'
export type Naming = typeof NAMED | typeof PLAIN

/** The id of the column at a position; parts are written with the same (`engine/ingest/part.ts`). */
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
      type: icebergType(type),
      ...(naming === NAMED && description && { doc: description }),
    })),
  } as const
}

/** Under which names the columns lie in parts that older programs wrote without ids (table spec, Column Projection). */
export function nameMapping(columns: readonly Column[]): string {
  return JSON.stringify(columns.map((_, index) => ({ 'field-id': fieldId(index), names: [`c${index}`] })))
}
