import type { SinkTarget } from '../file.ts'
import type { ReadRequest } from '../request.ts'
import type { KnownColumns } from '../targets.ts'
import { malformed, quoteValue } from '../text/errors.ts'
import type { Rewritten } from '../text/rewritten.ts'
import { type Cell, type Cube, type Dimension, otherCount, readWhole, sizeOf, writeCube } from './cube.ts'

/** Whether a text begins as a dataset of JSON-stat: of version 2, or of version 1 in its envelope. */
export function isJsonStat(start: string): boolean {
  return /^\s*\{(?:\s*"(?!rows")[a-z]+"\s*:\s*(?:"(?:[^"\\]|\\.)*"|\[[^[\]{}]*\])\s*,)*?\s*(?:"class"\s*:\s*"dataset"|"(?:dataset|dimension)"\s*:\s*\{)/.test(
    start,
  )
}

/**
 * Rewrites a dataset of JSON-stat (https://json-stat.org/full/) as csv.
 * @param target where the csv is to be written
 * @throws EngineError `invalid_upload`, `column_conflict`, `upload_too_large`, `storage_full`
 */
export async function toCsv(
  request: ReadRequest,
  target: SinkTarget,
  known: KnownColumns,
): Promise<Rewritten> {
  return writeCube(request, target, known, cubeOf(parse(await readWhole(request))))
}

type Json = Readonly<Record<string, unknown>>

/** Numbers become their texts, so that all of their digits are kept. */
class Digits {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

function parse(bytes: Uint8Array): Json {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const root: unknown = JSON.parse(text, (_, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' ? new Digits(context?.source ?? String(value)) : value,
    )
    if (isObject(root)) return isObject(root['dataset']) ? root['dataset'] : root
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error
  }
  throw malformed('The JSON-stat file is damaged, or cut off: it is not valid JSON.')
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Digits)
}

function cubeOf(root: Json): Cube {
  const dimension = objectAt(root, 'dimension')
  const ids = root['id'] ?? dimension['id']
  const sizes = root['size'] ?? dimension['size']
  if (!isList(ids, isText) || !isList(sizes, isDigits) || ids.length !== sizes.length)
    throw wrong('"id" and "size" must be lists of the same length')
  const dimensions = ids.map((id, at) => dimensionOf(id, objectAt(dimension, id), Number(sizes[at]!.text)))
  return {
    title: textAt(root, 'label'),
    source: textAt(root, 'source'),
    dimensions,
    cells: cellsOf(root['value'], root['status'], dimensions),
  }
}

function dimensionOf(name: string, dimension: Json, size: number): Dimension {
  const category = objectAt(dimension, 'category')
  const { index } = category
  const label = isObject(category['label']) ? category['label'] : {}
  const codes = Array.isArray(index) ? index : codesOf(isObject(index) ? index : label)
  if (!isList(codes, isText) || codes.length !== size)
    throw wrong(`the dimension ${quoteValue(name)} must have ${size} categories`)
  return { name, title: textAt(dimension, 'label'), codes, labels: codes.map((code) => textAt(label, code)) }
}

/** The codes at their positions; those of labels alone are in their order. */
function codesOf(index: Json): unknown[] {
  const codes: unknown[] = []
  for (const [code, position] of Object.entries(index)) {
    const at = position instanceof Digits ? Number(position.text) : codes.length
    if (!Number.isInteger(at) || at < 0 || at > Object.keys(index).length)
      throw wrong(`the code ${quoteValue(code)} has a wrong position`)
    codes[at] = code
  }
  return Array.from(codes)
}

/** All cells of a list; of an object, those that it names. */
function* cellsOf(values: unknown, statuses: unknown, dimensions: readonly Dimension[]): Generator<Cell> {
  const size = sizeOf(dimensions)
  const statusAt = (at: number): string | null => {
    const status = isObject(statuses) ? statuses[at] : Array.isArray(statuses) ? statuses[at] : statuses
    return isText(status) ? status : status instanceof Digits ? status.text : null
  }
  const cell = (at: number, value: unknown): Cell => {
    if (value instanceof Digits) return { at, value: value.text, status: statusAt(at) }
    if (value === null || value === undefined) return { at, value: null, status: statusAt(at) }
    return { at, value: isText(value) ? value : JSON.stringify(value), status: statusAt(at) }
  }
  if (Array.isArray(values)) {
    if (values.length !== size) throw otherCount(values.length, dimensions)
    for (const [at, value] of values.entries()) yield cell(at, value)
  } else if (isObject(values)) {
    for (const [key, value] of Object.entries({ ...(isObject(statuses) && nulls(statuses)), ...values })) {
      const at = /^\d{1,15}$/.test(key) ? Number(key) : size
      if (at >= size) throw wrong(`"value" names the cell ${quoteValue(key)}, of ${size}`)
      yield cell(at, value)
    }
  } else throw wrong('"value" must be a list or an object')
}

/** Cells that have only a status have no value. */
function nulls(statuses: Json): Json {
  return Object.fromEntries(Object.keys(statuses).map((key) => [key, null]))
}

function objectAt(parent: Json, key: string): Json {
  const value = parent[key]
  if (isObject(value)) return value
  throw wrong(`${quoteValue(key)} must be an object`)
}

function textAt(parent: Json, key: string): string | undefined {
  const value = Object.hasOwn(parent, key) ? parent[key] : undefined
  return isText(value) ? value : undefined
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isDigits = (value: unknown): value is Digits => value instanceof Digits
function isList<Item>(value: unknown, is: (item: unknown) => item is Item): value is Item[] {
  return Array.isArray(value) && value.every(is)
}

function wrong(what: string): Error {
  return malformed(`The file is not JSON-stat of version 2: ${what}.`)
}
