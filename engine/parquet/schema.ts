import { elementsOf, FIELD, structOf } from './footer.ts'
import type { Struct } from './thrift.ts'

/** An element of a file's schema: a column, or what is nested in one. */
export interface SchemaElement {
  readonly name: string
  /** The column that it belongs to: its position among the columns. */
  readonly column: number
  /** Whether it is the column itself. */
  readonly isColumn: boolean
  /** The position of the element that it is nested in; 0 for columns. */
  readonly parent: number
  /** Parquet's physical type; undefined where it has elements below it. */
  readonly physical: number | undefined
  /** Whether it is sixteen bytes that mean nothing else. */
  readonly isBytes16: boolean
  readonly meaning: Meaning | undefined
  /** Of decimals; 0 for other types. */
  readonly precision: number
  /** Whether it is an object that occurs any number of times and has a single field, which DuckDB reads without it. */
  readonly isSingleField: boolean
}

/** What values stand for, as far as DuckDB does not read it as we do. */
export type Meaning =
  | ('text' | 'json' | 'bson' | 'null' | 'interval' | 'int96' | 'time nanos')
  | ('utc millis' | 'local millis' | 'utc nanos' | 'local nanos')

// Values of parquet.thrift: physical types, members of LogicalType and TimeUnit, converted types.
export const PHYSICAL = { int64: 2, int96: 3, float: 4, double: 5, bytes: 6, fixed: 7 } as const
export const TIMESTAMP = 8
const TIME = 7
const MILLIS = 1
export const NANOS = 3
const LOGICAL: Readonly<Record<number, Meaning>> = {
  1: 'text',
  4: 'text',
  11: 'null',
  12: 'json',
  13: 'bson',
}
const CONVERTED: Readonly<Record<number, Meaning>> = {
  0: 'text',
  4: 'text',
  9: 'utc millis',
  19: 'json',
  20: 'bson',
  21: 'interval',
}

/** The elements of a file's schema, depth first, without its root. Several of them may have the same name. */
export function schemaOf(footer: Struct): SchemaElement[] {
  const elements = elementsOf(footer)
  const found: SchemaElement[] = []
  const number = (element: Struct | undefined, id: number) => element?.get(id)?.value as number | undefined
  const read = (outer: Struct | undefined, parent: number, column?: number) => {
    const count = number(outer, FIELD.element.children) ?? 0
    for (let index = 0; index < count && found.length + 1 < elements.length; index++) {
      const position = found.length + 1
      const element = elements[position]!
      found.push({
        name: nameOf(element),
        column: column ?? index,
        isColumn: column === undefined,
        parent,
        physical: number(element, FIELD.element.type),
        isBytes16:
          number(element, FIELD.element.typeLength) === 16 &&
          !element.has(FIELD.element.logicalType) &&
          !element.has(FIELD.element.convertedType),
        meaning: meaningOf(element),
        precision: number(element, FIELD.element.precision) ?? 0,
        isSingleField: isSingleField(element, outer),
      })
      read(element, position, column ?? index)
    }
  }
  read(elements[0], 0)
  return found
}

function nameOf(element: Struct | undefined): string {
  return Buffer.from((element?.get(FIELD.element.name)?.value ?? []) as Uint8Array).toString()
}

const REPEATED = 2
/** Members of LogicalType, and converted types. */
const [MAP, LIST] = [2, 3]
const [CONVERTED_MAP, CONVERTED_LIST] = [1, 3]

/**
 * Whether a repeated group with one field is an object, in place of being how a list or map is written: the rules for
 * older files in Parquet's LogicalTypes.md.
 */
function isSingleField(element: Struct, outer: Struct | undefined): boolean {
  const fieldOf = (one: Struct | undefined, id: number) => one?.get(id)?.value
  if (fieldOf(element, FIELD.element.repetition) !== REPEATED) return false
  if (fieldOf(element, FIELD.element.children) !== 1) return false
  const [logical = 0] = (fieldOf(outer, FIELD.element.logicalType) as Struct | undefined)?.keys() ?? []
  const converted = fieldOf(outer, FIELD.element.convertedType)
  if (logical === MAP || converted === CONVERTED_MAP) return false
  if (logical !== LIST && converted !== CONVERTED_LIST) return true
  const [name, list] = [element, outer].map((one) => nameOf(one))
  return name === 'array' || name === `${list}_tuple`
}

export function meaningOf(element: Struct): Meaning | undefined {
  if (element.get(FIELD.element.type)?.value === PHYSICAL.int96) return 'int96'
  const [logical] = (element.get(FIELD.element.logicalType)?.value as Struct | undefined) ?? []
  const [member = 0, field] = logical ?? []
  if (member === TIME || member === TIMESTAMP) {
    const details = field!.value as Struct
    const [unit] = structOf(details, 2).keys()
    if (member === TIME) return unit === NANOS ? 'time nanos' : undefined
    const zone = details.get(1)?.value === false ? 'local' : 'utc'
    return unit === NANOS ? `${zone} nanos` : unit === MILLIS ? `${zone} millis` : undefined
  }
  return LOGICAL[member] ?? CONVERTED[(element.get(FIELD.element.convertedType)?.value as number) ?? -1]
}
