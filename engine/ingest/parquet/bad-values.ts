import type { Duck } from '../../duckdb/duck.ts'
import { EngineError } from '../../errors.ts'
import type { ReadRequest } from '../request.ts'
import { notUtf8, outOfRange } from '../text/value-errors.ts'
import type { LeafCondition } from './leaves.ts'
import { firstRowsAgainst, isScalar } from './looked-at.ts'
import type { Mark } from './marked-copy.ts'
import { readSchema, type SchemaElement } from './schema.ts'

/** Values on which DuckDB's reader fails without saying where they are, and how they are found in a marked copy. */
interface Unreadable {
  /** What DuckDB says. */
  readonly message: string
  /** Whether an element may hold such values, or may be mistaken in the copy for one that does. */
  readonly concerns: (element: SchemaElement) => 'yes' | 'mistaken' | 'no'
  readonly mark: (element: SchemaElement) => Mark | undefined
  readonly isGood: LeafCondition
  readonly error: (row: number, column: string, type: SchemaElement) => EngineError
}

const TEXTS = new Set(['UTF8', 'ENUM', 'JSON'])

function isText({ converted, logical }: SchemaElement): boolean {
  return TEXTS.has(converted) || /^(String|Enum|Json)Type/.test(logical)
}

function isJson({ converted, logical }: SchemaElement): boolean {
  return converted === 'JSON' || logical.startsWith('JsonType')
}

function isMillis({ converted, logical }: SchemaElement): boolean {
  return converted === 'TIMESTAMP_MILLIS' || /^TimestampType.*MILLIS=Milli/.test(logical)
}

const UNREADABLE: readonly Unreadable[] = [
  {
    message: 'Invalid JSON found in Parquet file',
    concerns: (element) => (isJson(element) ? 'yes' : 'no'),
    // In the copy, no other texts are text.
    mark: (element) => (isJson(element) ? 'text' : isText(element) ? 'plain' : undefined),
    isGood: (type, sql) => (isScalar(type, 'VARCHAR') ? `json_valid(${sql})` : undefined),
    error: (row, column) => outOfRange(row, column, 'json'),
  },
  {
    message: 'Invalid string encoding found in Parquet file',
    concerns: (element) => (isText(element) ? 'yes' : element.physical === 'BYTE_ARRAY' ? 'mistaken' : 'no'),
    mark: (element) => (isText(element) ? 'plain' : undefined),
    isGood: (type, sql) =>
      isScalar(type, 'BLOB') ? `(${sql} IS NULL OR TRY(decode(${sql})) IS NOT NULL)` : undefined,
    error: notUtf8,
  },
  {
    message: 'Could not convert Timestamp',
    concerns: (element) => (isMillis(element) ? 'yes' : element.physical === 'INT64' ? 'mistaken' : 'no'),
    mark: (element) => (isMillis(element) ? 'plain' : undefined),
    isGood: (type, sql) =>
      isScalar(type, 'BIGINT') ? `${sql} BETWEEN -62135596800000 AND 253402300799999` : undefined,
    error: (row, column, { logical }) =>
      outOfRange(row, column, logical.includes('isAdjustedToUTC=0') ? 'timestamp' : 'timestamptz'),
  },
]

/**
 * If DuckDB failed on a value that is not what the schema says, returns an error that names its row and column, which
 * DuckDB doesn't; otherwise the error itself.
 */
export async function badValueFound(
  duck: Duck,
  error: Error,
  request: Pick<ReadRequest, 'file' | 'tempDirectory' | 'signal'>,
): Promise<Error> {
  const unreadable = UNREADABLE.find(({ message }) => error.message.includes(message))
  if (!unreadable || error instanceof EngineError) return error
  try {
    return (await located(duck, unreadable, request)) ?? error
  } catch (other) {
    return other as Error
  }
}

async function located(
  duck: Duck,
  { concerns, mark, isGood, error }: Unreadable,
  request: Pick<ReadRequest, 'file' | 'tempDirectory' | 'signal'>,
): Promise<EngineError | undefined> {
  const elements = [...(await readSchema(duck, request))]
  const marks = new Map<number, Mark>()
  for (const [position, element] of elements) {
    const found = mark(element)
    if (found) marks.set(position, found)
  }
  const columns = new Map<number, SchemaElement>()
  for (const [, element] of elements) if (concerns(element) === 'yes') columns.set(element.column, element)
  for (const [, element] of elements) if (concerns(element) === 'mistaken') columns.delete(element.column)
  const firsts = await firstRowsAgainst(duck, marks, [...columns.keys()], [isGood], request)
  const at = firsts.findIndex(([row]) => row !== undefined)
  if (at < 0) return undefined
  const [position, type] = [...columns][at]!
  const { name } = elements.find(([, { column, isColumn }]) => isColumn && column === position)![1]
  return error(firsts[at]![0]!, name, type)
}
