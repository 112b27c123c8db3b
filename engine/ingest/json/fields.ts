import type { Column, ColumnType } from '../../types/index.ts'
import { inferTyped } from '../text/cell-writer.ts'

/** What one pass over a JSON upload knows of a column, and learns. */
export interface JsonField {
  readonly name: string
  /** Undefined where it is to be inferred. */
  readonly type: ColumnType | undefined
  readonly nullable: boolean
  readonly description: string
  /** Some value is an array or an object, so all are kept as JSON. */
  nested: boolean
  /** Kinds of numbers and booleans. */
  scalars: number
  /** Kinds of strings. */
  texts: number
  /** How many there are that aren't null. */
  values: number
  width: number
}

/** How rows are laid on columns. */
export interface JsonLayout {
  /** The columns so far, in order; keys of objects add to them if `open`. */
  readonly fields: readonly Pick<JsonField, 'name' | 'type' | 'nullable' | 'description' | 'nested'>[]
  readonly open: boolean
  /** The fields that the values of an array row belong to; undefined if array rows can't be told apart. */
  readonly positions: readonly number[] | undefined
  /** Whose columns a key has to be among: the dataset's, or the upload's own. */
  readonly owner: 'dataset' | 'upload'
}

/** The type of a column, once all of its values are known. */
function typeOfField(field: JsonField): ColumnType {
  return field.type ?? inferTyped(field.scalars, field.texts, field.nested)
}

/** The columns of a finished pass. */
export function columnsOf(fields: readonly JsonField[]): Column[] {
  return fields.map((field) => ({
    name: field.name,
    type: typeOfField(field),
    nullable: field.nullable,
    description: field.description,
  }))
}
