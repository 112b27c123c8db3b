import { isMetadata, LONGEST_METADATA, type Metadata } from '../catalog/metadata.ts'
import { isPlainText } from '../util/plain-text.ts'
import { wordsOf } from './columns.ts'
import type { Column } from './index.ts'

/** What is written down about a dataset, besides its name. */
export type DatasetMetadata = Metadata & { readonly description?: string }

/** What is written down about a column. */
type ColumnMetadata = Partial<Pick<Column, 'title' | 'description' | 'unit'>>

/** What a file says about its dataset, and about its columns by their names. */
export interface FileMetadata {
  readonly dataset: DatasetMetadata
  readonly columns: ReadonlyMap<string, ColumnMetadata>
}

/**
 * The key in the metadata of Parquet and Arrow files under which we write all of it as JSON: the fields of a dataset,
 * and `columns` with `name`, `title`, `description` and `unit`. Single fields under their own names are read as well.
 */
export const METADATA_KEY = 'parquetry'

const DATASET_FIELDS = ['description', ...Object.keys(LONGEST_METADATA)] as (keyof DatasetMetadata)[]
const COLUMN_FIELDS = ['title', 'description', 'unit'] as const

/**
 * The JSON text for a file; undefined if nothing is written down.
 * @param columns those of the file, which may be columns of the dataset
 */
export function metadataIn(
  dataset: DatasetMetadata,
  columns: readonly { readonly name: string; readonly stored?: number | undefined }[],
  stored: readonly ColumnMetadata[],
): string | undefined {
  const described = columns.flatMap(({ name, stored: at }) => {
    const column = at === undefined ? undefined : stored[at]
    const metadata = entriesOf(COLUMN_FIELDS, (field) => column?.[field] || undefined)
    return metadata.length > 0 ? [{ name, ...Object.fromEntries(metadata) }] : []
  })
  const fields = entriesOf(DATASET_FIELDS, (field) => dataset[field] || undefined)
  if (fields.length + described.length === 0) return undefined
  return JSON.stringify({
    ...Object.fromEntries(fields),
    ...(described.length > 0 && { columns: described }),
  })
}

/**
 * The metadata of a file. What is no valid value of its field is left out: a file's rows are worth more than its words.
 * @param pairs those of the file
 * @param fields those of its columns, by their names
 */
export function readMetadata(
  pairs: ReadonlyMap<string, string>,
  fields: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(),
): FileMetadata {
  const ours = objectIn(pairs.get(METADATA_KEY))
  const dataset = entriesOf(DATASET_FIELDS, (field) => {
    const plain = pairs.get(field)
    const keywords = () => plain?.split(',').map((word) => word.trim())
    return valid(field, ours[field]) ?? valid(field, field === 'keywords' ? keywords() : plain)
  })
  const columns = new Map<string, ColumnMetadata>()
  const add = (name: string, given: (field: keyof ColumnMetadata) => unknown) => {
    const metadata = entriesOf(COLUMN_FIELDS, (field) =>
      valid(field === 'unit' ? 'title' : field, given(field)),
    )
    columns.set(name, { ...columns.get(name), ...Object.fromEntries(metadata) })
  }
  for (const [name, metadata] of fields) add(name, (field) => metadata.get(field))
  for (const column of Array.isArray(ours['columns']) ? ours['columns'] : []) {
    if (typeof column?.name === 'string') add(column.name, (field) => column[field])
  }
  return { dataset: Object.fromEntries(dataset), columns }
}

type Worded = { readonly name: string } & {
  readonly [Field in keyof ColumnMetadata]: ColumnMetadata[Field] | undefined
}

/** Columns with the words of a file where they have none of their own. */
export function filledColumns<C extends Worded>(
  columns: readonly C[],
  { columns: found }: FileMetadata,
): C[] {
  return columns.map((column) => worded(column, [column, found.get(column.name)]))
}

/** The columns of an upload that take the place of others: those of the same names keep what is written down. */
export function keepDescriptions<C extends Worded>(columns: readonly C[], before: readonly Worded[]): C[] {
  const old = new Map(before.map((column) => [column.name, column]))
  return columns.map((column) => worded(column, [old.get(column.name), column]))
}

function worded<C extends Worded>(
  { title: _, unit: __, ...column }: C,
  metadata: readonly [ColumnMetadata | undefined, ColumnMetadata | undefined],
): C {
  const [first = {}, second = {}] = metadata
  const { title = second.title, unit = second.unit } = first
  const description = first.description || (second.description ?? '')
  return { ...column, description, ...wordsOf({ title, unit }) } as C
}

/** The most characters of a description in a file. */
const LONGEST_DESCRIPTION = 10_000

function valid(field: keyof DatasetMetadata, value: unknown): unknown {
  if (field !== 'description') return isMetadata(field, value) ? value : undefined
  const isText = isPlainText(value) && value.trim() !== '' && value.length <= LONGEST_DESCRIPTION
  return isText ? value : undefined
}

/** The object that a text of JSON is; an empty one if it is something else. */
export function objectIn(json = ''): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

function entriesOf<Field extends string>(
  fields: readonly Field[],
  given: (field: Field) => unknown,
): [Field, unknown][] {
  return fields
    .map((field): [Field, unknown] => [field, given(field)])
    .filter(([, value]) => value !== undefined)
}
