import { EngineError } from '../../errors.ts'
import type { Pairs } from '../../parquet/footer.ts'
import type { SchemaElement } from '../../parquet/schema.ts'
import type { ArrowField } from '../arrow/arrow-messages.ts'
import { periodsIn } from '../text/periods.ts'

/** The key under which Arrow's libraries write the schema: a message in base64, after its marker and its length. */
const ARROW_SCHEMA = 'ARROW:schema'
const MARKER_BYTES = 8

/** What Arrow's schema says about columns, by their names. */
export type Fields = ReadonlyMap<string, ArrowField>

/**
 * What Arrow's schema in a footer says.
 * @throws EngineError `invalid_upload` for integers of 128 bits, which polars writes as bytes
 */
export async function fieldsOf(pairs: Pairs, elements: readonly SchemaElement[]): Promise<Fields> {
  const message = Buffer.from(pairs.get(ARROW_SCHEMA) ?? '', 'base64').subarray(MARKER_BYTES)
  if (message.length === 0) return new Map()
  const { schemaFields } = await import('../arrow/arrow-messages.ts')
  try {
    return new Map(schemaFields(message).map((field) => [field.name, field]))
  } catch (error) {
    const { column } = (error instanceof EngineError && error.details) || {}
    if (elements.some(({ isColumn, name, isBytes16 }) => isColumn && name === column && isBytes16))
      throw error
    // The rows are read without this schema, so a damaged one is no reason to refuse them.
    return new Map()
  }
}

export function isBool8({ metadata }: ArrowField): boolean {
  return metadata.get('ARROW:extension:name') === 'arrow.bool8'
}

/** What the whole numbers of a column stand for, if only that schema says so. */
export function meaningOf(field: ArrowField): string | undefined {
  if (field.durations) return 'durations'
  if (periodsIn(field.metadata)) return 'periods of pandas'
  return isBool8(field) ? 'booleans' : undefined
}
