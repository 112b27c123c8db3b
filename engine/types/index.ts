/** The closed set of column types. Everything that DuckDB has is stored as one of these. */
export type ColumnType =
  | 'boolean'
  | 'integer'
  | 'double'
  | `decimal(${number},${number})`
  | 'string'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'uuid'
  | 'binary'
  | 'json'

/** A column as users see it. Names are case-sensitive and may hold any character. */
export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly nullable: boolean
  readonly description: string
}

/** The formats that rows leave in. */
export const FORMATS = ['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'parquet', 'arrow'] as const
export type Format = (typeof FORMATS)[number]

/**
 * SQL ready to run. A user's value is never in `sql`: it is one of `parameters`, all bound as VARCHAR, so the SQL
 * casts each where another type is meant (`CAST($1 AS BIGINT)`).
 */
export interface Statement {
  readonly sql: string
  readonly parameters: readonly string[]
  /** What the SQL returns, in order. Result columns are read by position; their SQL names don't matter. */
  readonly columns: readonly { readonly name: string; readonly type: ColumnType }[]
}

/** The DuckDB type that holds a column type, in Parquet parts and in results alike. */
export function sqlType(type: ColumnType): string {
  switch (type) {
    case 'boolean':
      return 'BOOLEAN'
    case 'integer':
      return 'BIGINT'
    case 'double':
      return 'DOUBLE'
    case 'string':
    case 'json':
      return 'VARCHAR'
    case 'date':
      return 'DATE'
    case 'time':
      return 'TIME'
    case 'timestamp':
      return 'TIMESTAMP'
    case 'timestamptz':
      return 'TIMESTAMPTZ'
    case 'uuid':
      return 'UUID'
    case 'binary':
      return 'BLOB'
    default:
      return type.toUpperCase()
  }
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

const PLAIN_TYPES = new Set<string>([
  'boolean',
  'integer',
  'double',
  'string',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'uuid',
  'binary',
  'json',
])

export function isColumnType(type: unknown): type is ColumnType {
  return typeof type === 'string' && (PLAIN_TYPES.has(type) || decimalParts(type) !== undefined)
}

/** An SQL identifier. The one place where a name of a user's can enter SQL text. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** An SQL string literal, for what can't be a parameter and is our own: paths of parts, option values. */
export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
