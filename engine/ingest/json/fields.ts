import type { Column, ColumnType } from '../../types/index.ts'
import { inferTyped } from '../text/cell-writer.ts'

/** A column of a JSON upload: what is known about it before a pass over the upload, and what the pass learns. */
export interface JsonField {
  readonly name: string
  /** Undefined where the type is to be inferred. */
  readonly type: ColumnType | undefined
  readonly nullable: boolean
  readonly description: string
  /** Whether some value is an array or an object; all values are kept as JSON then. */
  nested: boolean
  /** The kinds of the values that are numbers or booleans. */
  scalars: number
  /** The kinds of the values that are strings. */
  texts: number
  /** How many values are not null. */
  values: number
  width: number
}

/** Which columns the values of rows belong to. */
export interface JsonLayout {
  /** The columns so far, in order. If `open`, unknown keys of objects are added to them. */
  readonly fields: readonly Pick<JsonField, 'name' | 'type' | 'nullable' | 'description' | 'nested'>[]
  readonly open: boolean
  /** The fields that the values of an array row belong to, in order; undefined where this is not known. */
  readonly positions: readonly number[] | undefined
  /** Whether the columns are the dataset's or the upload's own. The error for an unknown key depends on this. */
  readonly owner: 'dataset' | 'upload'
}

/** The type of a column, once all of its values are known. */
function typeOfField(field: JsonField): ColumnType {
  return field.type ?? inferTyped(field.scalars, field.texts, field.nested)
}

/** The columns as settled by a finished pass. */
export function columnsOf(fields: readonly JsonField[]): Column[] {
  return fields.map((field) => ({
    name: field.name,
    type: typeOfField(field),
    nullable: field.nullable,
    description: field.description,
  }))
}
