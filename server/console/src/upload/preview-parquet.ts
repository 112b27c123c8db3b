import type { ColumnType } from '../../../client/index.ts'
import { type Preview, type PreviewColumn, PreviewError } from './model.ts'
import { readStruct, type ThriftStruct, type ThriftValue } from './thrift.ts'

const MAGIC = 'PAR1'

// Field numbers of parquet.thrift: FileMetaData and SchemaElement.
const FILE = { schema: 2, rows: 3 } as const
const ELEMENT = { type: 1, name: 4, children: 5, converted: 6, scale: 7, precision: 8, logical: 10 } as const

/** Physical types, in the order of parquet.thrift. */
const PHYSICAL = [
  'boolean',
  'integer',
  'integer',
  'timestamp',
  'double',
  'double',
  'binary',
  'binary',
] as const

/** Reads columns, types and row count from the footer, and nothing else of the file. */
export async function previewParquet(file: File): Promise<Preview> {
  const tail = new DataView(await file.slice(-8).arrayBuffer())
  const magic = new TextDecoder().decode(tail.buffer.slice(4))
  if (tail.byteLength < 8 || magic !== MAGIC) {
    throw new PreviewError(`${file.name} is not a Parquet file, or its end is missing.`)
  }
  const length = tail.getUint32(0, true)
  const footer = await file.slice(-8 - length, -8).arrayBuffer()
  let meta: ThriftStruct
  try {
    meta = readStruct(new Uint8Array(footer))
  } catch {
    throw new PreviewError(`The footer of ${file.name} can not be read; the file is damaged.`)
  }
  return {
    columns: topLevelColumns(list(meta.get(FILE.schema))),
    rows: [],
    rowCount: Number(meta.get(FILE.rows) ?? 0),
    typed: true,
    lookedAt: 0,
  }
}

/** The schema is a tree in depth-first order, beginning with the root. */
function topLevelColumns(elements: readonly ThriftStruct[]): PreviewColumn[] {
  const columns: PreviewColumn[] = []
  let at = 1
  while (at < elements.length) {
    const element = elements[at]!
    columns.push({ name: text(element.get(ELEMENT.name)), type: typeOf(element) })
    at = behind(elements, at)
  }
  return columns
}

function behind(elements: readonly ThriftStruct[], at: number): number {
  let next = at + 1
  const children = Number(elements[at]?.get(ELEMENT.children) ?? 0)
  for (let child = 0; child < children && next < elements.length; child += 1) next = behind(elements, next)
  return next
}

function typeOf(element: ThriftStruct): ColumnType {
  if (element.get(ELEMENT.type) === undefined) return 'json'
  const physical = PHYSICAL[Number(element.get(ELEMENT.type))] ?? 'binary'
  const logical = element.get(ELEMENT.logical)
  return (logical instanceof Map ? logicalType(logical) : undefined) ?? convertedType(element) ?? physical
}

/** LogicalType is a union: the id of its only field is its kind. */
function logicalType(logical: ThriftStruct): ColumnType | undefined {
  const [kind, details] = [...logical][0] ?? []
  const fields: ThriftStruct = details instanceof Map ? details : new Map()
  switch (kind) {
    case 1:
    case 4:
      return 'string'
    case 5:
      return decimal(fields.get(2), fields.get(1))
    case 6:
      return 'date'
    case 7:
      return 'time'
    case 8:
      return fields.get(1) === true ? 'timestamptz' : 'timestamp'
    case 12:
      return 'json'
    case 14:
      return 'uuid'
    default:
      return undefined
  }
}

/** ConvertedType, for files of older writers without LogicalType. */
function convertedType(element: ThriftStruct): ColumnType | undefined {
  switch (Number(element.get(ELEMENT.converted) ?? -1)) {
    case 0:
    case 4:
      return 'string'
    case 5:
      return decimal(element.get(ELEMENT.precision), element.get(ELEMENT.scale))
    case 6:
      return 'date'
    case 7:
    case 8:
      return 'time'
    case 9:
    case 10:
      return 'timestamp'
    case 19:
      return 'json'
    default:
      return undefined
  }
}

function decimal(precision: ThriftValue | undefined, scale: ThriftValue | undefined): ColumnType {
  return `decimal(${Number(precision ?? 38)},${Number(scale ?? 0)})`
}

function list(value: ThriftValue | undefined): ThriftStruct[] {
  return Array.isArray(value) ? value.filter((item): item is ThriftStruct => item instanceof Map) : []
}

function text(value: ThriftValue | undefined): string {
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : ''
}
