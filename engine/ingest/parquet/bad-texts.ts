import type { Duck } from '../../duckdb/duck.ts'
import type { EngineError } from '../../errors.ts'
import type { ReadRequest } from '../request.ts'
import { notUtf8, outOfRange } from '../text/value-errors.ts'
import type { LeafCondition } from './leaves.ts'
import { firstRowsAgainst, isScalar } from './looked-at.ts'
import type { Mark } from './marked-copy.ts'
import { readSchema, type SchemaElement } from './schema.ts'

/**
 * If DuckDB failed on a text that is not what the schema says, UTF-8 or JSON, returns an error that names its row and
 * column, which DuckDB doesn't; otherwise the error itself.
 */
export async function badTextOf(
  duck: Duck,
  error: Error,
  request: Pick<ReadRequest, 'file' | 'tempDirectory' | 'signal'>,
): Promise<Error> {
  const isJson = error.message.includes('Invalid JSON found in Parquet file')
  if (!isJson && !error.message.includes('Invalid string encoding found in Parquet file')) return error
  try {
    return (await located(duck, isJson, request)) ?? error
  } catch (other) {
    return other as Error
  }
}

async function located(
  duck: Duck,
  isJson: boolean,
  request: Pick<ReadRequest, 'file' | 'tempDirectory' | 'signal'>,
): Promise<EngineError | undefined> {
  const elements = await readSchema(duck, request)
  // In the copy, only the texts to be looked at are text, or only they are bytes.
  const marks = new Map<number, Mark>()
  const columns = new Set<number>()
  for (const [position, element] of elements) {
    if (!isText(element)) continue
    const looked = !isJson || element.converted === 'JSON'
    if (looked) columns.add(element.column)
    marks.set(position, looked && isJson ? 'text' : 'plain')
  }
  if (!isJson) for (const { column } of [...elements.values()].filter(isBinary)) columns.delete(column)
  const list = [...columns]
  const firsts = await firstRowsAgainst(duck, marks, list, [isJson ? isValidJson : isUtf8], request)
  const at = firsts.findIndex(([row]) => row !== undefined)
  if (at < 0) return undefined
  const row = firsts[at]![0]!
  const { name } = [...elements.values()].find(({ column, isColumn }) => isColumn && column === list[at])!
  return isJson ? outOfRange(row, name, 'json') : notUtf8(row, name)
}

const TEXTS = new Set(['UTF8', 'ENUM', 'JSON'])

function isText({ converted, logical }: SchemaElement): boolean {
  return TEXTS.has(converted) || /^(String|Enum|Json)Type/.test(logical)
}

function isBinary(element: SchemaElement): boolean {
  return element.physical === 'BYTE_ARRAY' && !isText(element)
}

const isValidJson: LeafCondition = (type, sql) =>
  isScalar(type, 'VARCHAR') ? `json_valid(${sql})` : undefined

const isUtf8: LeafCondition = (type, sql) =>
  isScalar(type, 'BLOB') ? `(${sql} IS NULL OR TRY(decode(${sql})) IS NOT NULL)` : undefined
