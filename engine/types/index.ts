/** How the values of a type are laid out in Arrow's memory and in ours; see `Vector` for their encoding. */
export type Layout = 'bit' | 'int32' | 'int64' | 'double' | 'int128' | 'bytes'

/** What a type is called in Apache Arrow, with unit and zone where there is one. */
export type ArrowName =
  | 'bool'
  | 'int64'
  | 'float64'
  | 'decimal128'
  | 'utf8'
  | 'binary'
  | 'date32'
  | 'time64[us]'
  | 'timestamp[us]'
  | 'timestamp[us, UTC]'

/** All that the engine must know of a column type. The names of decimals end with precision and scale: `(18,3)`. */
interface ColumnTypeEntry {
  /** The DuckDB type that holds it, both in Parquet parts and in results. */
  readonly sql: string
  /** Its `duckdb_type` in DuckDB's C API. */
  readonly duckdb: number
  readonly layout: Layout
  readonly arrow: ArrowName
  /** Its name in OData (CSDL 4.01, 3.3), behind `Edm.`. Values of json are sent as text, which every client can read. */
  readonly edm: string
  /** Its name in Iceberg (table spec, Primitive Types), where texts of json are strings. */
  readonly iceberg: string
}

/** The closed set of column types. Values of every other DuckDB type are stored as one of these. */
export const COLUMN_TYPES = {
  boolean: { sql: 'BOOLEAN', duckdb: 1, layout: 'bit', arrow: 'bool', edm: 'Boolean', iceberg: 'boolean' },
  integer: { sql: 'BIGINT', duckdb: 5, layout: 'int64', arrow: 'int64', edm: 'Int64', iceberg: 'long' },
  double: { sql: 'DOUBLE', duckdb: 11, layout: 'double', arrow: 'float64', edm: 'Double', iceberg: 'double' },
  decimal: {
    sql: 'DECIMAL',
    duckdb: 19,
    layout: 'int128',
    arrow: 'decimal128',
    edm: 'Decimal',
    iceberg: 'decimal',
  },
  string: { sql: 'VARCHAR', duckdb: 17, layout: 'bytes', arrow: 'utf8', edm: 'String', iceberg: 'string' },
  date: { sql: 'DATE', duckdb: 13, layout: 'int32', arrow: 'date32', edm: 'Date', iceberg: 'date' },
  time: { sql: 'TIME', duckdb: 14, layout: 'int64', arrow: 'time64[us]', edm: 'TimeOfDay', iceberg: 'time' },
  timestamp: {
    sql: 'TIMESTAMP',
    duckdb: 12,
    layout: 'int64',
    arrow: 'timestamp[us]',
    edm: 'DateTimeOffset',
    iceberg: 'timestamp',
  },
  timestamptz: {
    sql: 'TIMESTAMPTZ',
    duckdb: 31,
    layout: 'int64',
    arrow: 'timestamp[us, UTC]',
    edm: 'DateTimeOffset',
    iceberg: 'timestamptz',
  },
  // Arrow has no basic type for uuid and json: a uuid is its 36 characters, json is its text.
  uuid: { sql: 'UUID', duckdb: 27, layout: 'bytes', arrow: 'utf8', edm: 'Guid', iceberg: 'uuid' },
  binary: { sql: 'BLOB', duckdb: 18, layout: 'bytes', arrow: 'binary', edm: 'Binary', iceberg: 'binary' },
  json: { sql: 'VARCHAR', duckdb: 17, layout: 'bytes', arrow: 'utf8', edm: 'String', iceberg: 'string' },
} as const satisfies Record<string, ColumnTypeEntry>

/** The name of a type, without precision and scale. */
export type TypeName = keyof typeof COLUMN_TYPES

export type ColumnType = Exclude<TypeName, 'decimal'> | `decimal(${number},${number})`

export function typeName(type: ColumnType): TypeName {
  return (type.startsWith('decimal') ? 'decimal' : type) as TypeName
}

/** The entry of a type in `COLUMN_TYPES`. */
export function entryOf(type: ColumnType): ColumnTypeEntry {
  return COLUMN_TYPES[typeName(type)]
}

/** What OData calls a type, without precision and scale: `Edm.Int64`. */
export function edmName(type: ColumnType): `Edm.${string}` {
  return `Edm.${entryOf(type).edm}`
}

/** What Iceberg calls a type: `long`, `decimal(18,3)`. */
export function icebergName(type: ColumnType): string {
  return entryOf(type).iceberg + type.slice(typeName(type).length)
}

/** The DuckDB type that holds a column type: `BIGINT`, `DECIMAL(18,3)`. */
export function sqlType(type: ColumnType): string {
  return entryOf(type).sql + type.slice(typeName(type).length)
}

const BYTES: Readonly<Record<Layout, number>> = {
  bit: 1,
  int32: 4,
  int64: 8,
  double: 8,
  int128: 16,
  bytes: 16,
}

/** Bytes of a value in DuckDB's vectors, without the text it may point to; decimals of up to 18 digits take half. */
export function vectorBytes(type: ColumnType): number {
  return BYTES[entryOf(type).layout]
}

/** Bytes of a value in DuckDB's memory; undefined for types whose values vary in length. */
export function fixedBytes(type: ColumnType): number | undefined {
  if (entryOf(type).layout === 'bytes' && type !== 'uuid') return undefined
  return (decimalParts(type)?.precision ?? 38) <= 18 ? 8 : vectorBytes(type)
}

const DECIMAL = /^decimal\((\d{1,2}),(\d{1,2})\)$/

/** Precision and scale of a decimal type; undefined for every other. */
export function decimalParts(type: string): { precision: number; scale: number } | undefined {
  const match = DECIMAL.exec(type)
  if (!match) return undefined
  const precision = Number(match[1])
  const scale = Number(match[2])
  return precision >= 1 && precision <= 38 && scale <= precision ? { precision, scale } : undefined
}

export function isColumnType(type: unknown): type is ColumnType {
  if (typeof type !== 'string') return false
  return decimalParts(type) !== undefined || (type !== 'decimal' && Object.hasOwn(COLUMN_TYPES, type))
}

/** A regular expression for the names of all types, in JSON Schema's syntax. */
export const TYPE_PATTERN = `^(${Object.keys(COLUMN_TYPES)
  .map((name) => (name === 'decimal' ? 'decimal\\(([1-9]|[12]\\d|3[0-8]),(\\d|[12]\\d|3[0-8])\\)' : name))
  .join('|')})$`

/** All types as a list for a sentence. */
export const TYPES_IN_WORDS = (() => {
  const names = Object.keys(COLUMN_TYPES).map((name) =>
    name === 'decimal' ? 'decimal(p,s) with p from 1 to 38 and s from 0 to p' : name,
  )
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
})()

/** A column as users see it. Names are case-sensitive and may hold any character. */
export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly nullable: boolean
  readonly description: string
  /** What people call it, where its name is short. */
  readonly title?: string
  /** The unit of its values: `EUR`, `km/h`. */
  readonly unit?: string
}

/** The formats in which rows can be exported. */
export const FORMATS = ['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'parquet', 'arrow', 'arrow-file'] as const
export type Format = (typeof FORMATS)[number]

/** The ending of files in a format. Uploads of such files have it as the name of their format. */
export function endingOf(format: Format): Exclude<Format, 'arrow-file'> {
  return format === 'arrow-file' ? 'arrow' : format
}

/** Whether a file in this format can say something about its dataset and its columns. */
export function holdsMetadata(format: Format): boolean {
  return format === 'parquet' || format === 'arrow' || format === 'arrow-file'
}

/**
 * SQL ready to run. A user's text is never in `sql`: it is one of `parameters`, all bound as VARCHAR, so the SQL casts
 * each where another type is meant (`CAST($1 AS UUID)`). Numbers and dates are in the SQL, as the program writes them.
 */
export interface Statement {
  readonly sql: string
  readonly parameters: readonly string[]
  /** What the SQL returns, in order. Result columns are read by position; their SQL names don't matter. */
  readonly columns: readonly { readonly name: string; readonly type: ColumnType }[]
  /** Whether so little is read that one thread does it in less time than several. */
  readonly light?: boolean
}

/** An SQL identifier. Names that users chose enter SQL text through this function only. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** An SQL string literal, for texts of our own that can't be parameters: paths of parts, values of options. */
export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** SQL for the rows of a range. DuckDB takes LIMIT and OFFSET in any order, other databases in this one. */
export function limitOf(skip: number, top: number | undefined): string {
  return (skip > 0 ? ` OFFSET ${skip}` : '') + (top === undefined ? '' : ` LIMIT ${top}`)
}

/**
 * The least and the greatest value of a column in a part, as text in the units of the column's type: the digits of an
 * integer, or of a decimal without its point; days or microseconds since 1970 (for a time: since midnight); the
 * shortest text of a double; a text itself. NaN is left out, because no comparison finds it. null means not known.
 */
export interface ColumnBounds {
  readonly min: string | null
  readonly max: string | null
  /** How many values are null. */
  readonly nulls: number
  /** The compressed bytes of the column's pages; undefined if an older program wrote the part. */
  readonly bytes?: number
}

/**
 * The bounds of each column, by its position; null where nothing is known about the column. After the last column come
 * the bounds of the ordinals, if the part has them.
 */
export type PartStatistics = readonly (ColumnBounds | null)[]
