import { setImmediate } from 'node:timers/promises'
import { type Column, type ColumnType, decimalParts, edmName } from '../../../engine/index.ts'
import { identifiersFor } from './names.ts'

/** The key property of every entity: the row's number in the version, starting at 1. */
export const KEY = 'Row'

/** The namespace of what `$metadata` declares. */
export const NAMESPACE = 'Parquetry'
export const CONTAINER = 'Container'

/** A column as CSDL describes it. */
export interface Property {
  readonly name: string
  /** The name of the column in the dataset. */
  readonly column: string
  readonly description: string
  readonly type: EdmType
  readonly nullable: boolean
}

/** A primitive type with its facets (CSDL XML 4.01, 3.3 and 7.2). */
export interface EdmType {
  readonly name: `Edm.${string}`
  readonly precision?: number
  readonly scale?: number
}

/** A dataset as CSDL describes it. */
export interface EntitySet {
  readonly name: string
  readonly datasetId: number
  /** The name of the dataset, which need not be an identifier. */
  readonly title: string
  readonly description: string
}

/** A dataset with the columns of its current version. */
export interface DescribedSet extends EntitySet {
  readonly properties: readonly Property[]
}

/** Sets with their properties, some at a time, so that describing 20,000 of them doesn't block the event loop. */
export type Pages = AsyncIterable<readonly DescribedSet[]> | Iterable<readonly DescribedSet[]>

/** What the container says of a set: it names only properties that can't be filtered. */
export function forContainer(set: DescribedSet): DescribedSet {
  return { ...set, properties: set.properties.filter(({ type }) => type.name === 'Edm.Binary') }
}

const SLICE = 10

/** A list in slices, between which others get a turn. */
export async function* slices<Item>(items: readonly Item[]): AsyncGenerator<readonly Item[]> {
  for (let from = 0; from < items.length; from += SLICE) {
    yield items.slice(from, from + SLICE)
    await setImmediate()
  }
}

/** The qualified name of the entity type of an entity set. */
export function typeName(set: Pick<EntitySet, 'name'>): string {
  return `${NAMESPACE}.${set.name}Row`
}

/** Words that `$filter` reads as values, ignoring case. A property with such a name could not be used there. */
const VALUES = ['null', 'true', 'false', 'NaN', 'INF']

/**
 * Describes columns as properties. Their names are identifiers, and differ from the key and from the words that are
 * values.
 */
export function propertiesOf(columns: readonly Column[]): Property[] {
  const names = identifiersFor(
    columns.map((column) => column.name),
    [KEY, ...VALUES],
  )
  return columns.map(({ name: column, type, nullable, description }, index) => ({
    name: names[index]!,
    column,
    description,
    type: edmType(type),
    nullable,
  }))
}

/** The OData type of a column type. Times have a precision of 6 digits because DuckDB stores microseconds. */
export function edmType(type: ColumnType): EdmType {
  const name = edmName(type)
  const timed = name === 'Edm.TimeOfDay' || name === 'Edm.DateTimeOffset'
  return { name, ...decimalParts(type), ...(timed && { precision: 6 }) }
}
