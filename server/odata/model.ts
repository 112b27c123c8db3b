import { type Column, type ColumnType, decimalParts, edmName } from '../../engine/index.ts'
import { turn } from '../../engine/util/concurrency.ts'

/** The key property of every entity: the row's number in the version, starting at 1. */
export const KEY = 'Row'

export const NAMESPACE = 'Parquetry'
export const CONTAINER = 'Container'

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

/** What the container says of a set: it names only properties that can't be filtered. */
export function forContainer(set: DescribedSet): DescribedSet {
  return { ...set, properties: set.properties.filter(({ type }) => type.name === 'Edm.Binary') }
}

const SLICE = 10

/** A list in slices, between which others get a turn. */
export async function* slices<Item>(items: readonly Item[]): AsyncGenerator<readonly Item[]> {
  for (let from = 0; from < items.length; from += SLICE) {
    yield items.slice(from, from + SLICE)
    await turn()
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

/** CSDL allows 128 characters; this leaves room for suffixes such as `_1` and `Row`. */
export const LONGEST = 112

/** A simple identifier (OData CSDL XML 4.01, 15.2): a letter or `_`, then letters, digits, marks, connectors. */
const IDENTIFIER = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]*$/u
const FIRST = /^[\p{L}\p{Nl}_]/u
const FOREIGN = /[^\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]/gu

/**
 * Returns an identifier for each name, in the same order: `Body Mass (g)` becomes `Body_Mass__g_`. A name that is
 * already an identifier is kept, so it doesn't change when other columns are added or removed. If two identifiers would
 * be equal, ignoring case, the later one gets a number.
 * @param reserved identifiers that must not be used
 * @param foreign matches others that must not, in lower case
 */
export function identifiersFor(
  names: readonly string[],
  reserved: readonly string[] = [],
  foreign?: RegExp,
): string[] {
  const taken = new Set(reserved.map(folded))
  const found = new Map<number, string>()
  const keep = (index: number, identifier: string): boolean => {
    const key = folded(identifier)
    if (taken.has(key) || foreign?.test(key)) return false
    taken.add(key)
    found.set(index, identifier)
    return true
  }
  for (const [index, name] of names.entries()) {
    if (IDENTIFIER.test(name) && name.length <= LONGEST) keep(index, name)
  }
  for (const [index, name] of names.entries()) {
    if (found.has(index)) continue
    const identifier = identifierOf(name)
    for (let number = 0; !keep(index, number === 0 ? identifier : `${identifier}_${number}`); number++);
  }
  return names.map((_, index) => found.get(index)!)
}

export function identifierOf(name: string): string {
  const characters = name.toWellFormed().replace(FOREIGN, '_')
  const started = FIRST.test(characters) ? characters : `_${characters}`
  // Don't cut a surrogate pair in half.
  return started.slice(0, LONGEST).replace(/[\ud800-\udbff]$/, '')
}

function folded(identifier: string): string {
  return identifier.normalize('NFKC').toLowerCase()
}
