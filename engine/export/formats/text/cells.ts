import { LRUCache } from 'lru-cache'
import type { Batch, Vector } from '../../../duckdb/batch.ts'
import { type ColumnType, decimalParts, type TypeName, typeName } from '../../../types/index.ts'
import { literal, writeLiteral } from '../encoder.ts'
import {
  date,
  decimal,
  double,
  int64,
  MAX_DECIMAL,
  MAX_DOUBLE,
  MAX_INTEGER,
  MAX_MOMENT,
  time,
  timestamp,
} from './digits.ts'

/** How a value is written as text. The kinds are ordered so that formats can test for a group with one comparison. */
export const KIND = {
  boolean: 0,
  integer: 1,
  double: 2,
  decimal: 3,
  /** From here on json writes values in quotes. */
  date: 4,
  time: 5,
  timestamp: 6,
  timestamptz: 7,
  /** From here on values have no fixed width. */
  uuid: 8,
  binary: 9,
  string: 10,
  json: 11,
} as const satisfies Record<TypeName, number>

/** Kinds and scales of columns, side by side. */
export interface Shape {
  readonly kinds: Uint8Array
  readonly scales: Uint8Array
}

export function shapeOf(types: readonly ColumnType[]): Shape {
  return {
    kinds: Uint8Array.from(types, (type) => KIND[typeName(type)]),
    scales: Uint8Array.from(types, (type) => decimalParts(type)?.scale ?? 0),
  }
}

const TRUE = literal('true')
const FALSE = literal('false')
const NOT_A_NUMBER = literal('NaN')
const INFINITY = literal('INF')
const MINUS_INFINITY = literal('-INF')

function bool(view: DataView, at: number, value: number): number {
  return writeLiteral(view, at, value === 1 ? TRUE : FALSE)
}

/** Any double, with `NaN`, `INF` and `-INF` for those that have no digits. */
export function real(view: DataView, at: number, value: number): number {
  // The difference is 0 for every finite number, and NaN for infinities and NaN.
  if (value - value === 0) return double(view, at, value)
  return writeLiteral(view, at, value > 0 ? INFINITY : value < 0 ? MINUS_INFINITY : NOT_A_NUMBER)
}

/** The longest text of the values of each kind before `uuid`; the length of all others is in the batch. */
const LONGEST = Uint8Array.of(5, MAX_INTEGER, MAX_DOUBLE, MAX_DECIMAL, ...Array(4).fill(MAX_MOMENT))

/**
 * The most bytes that a batch can take, so that room is reserved only once.
 * @param around bytes besides each value: separators, quotes, a key
 * @param factor how many bytes a byte of a text may become
 */
export function boundOf(
  { rows, vectors }: Batch,
  { kinds }: Shape,
  around: number,
  factor: (column: number) => number,
): number {
  let bound = 8
  for (const [column, { offsets }] of vectors.entries()) {
    const kind = kinds[column]!
    const texts = offsets.length > 0 ? offsets[rows]! : 0
    // The length of each base64 text is rounded up to a multiple of four.
    const bytes = kind === KIND.binary ? Math.ceil((texts * 4) / 3) + 4 * rows : texts * factor(column)
    bound += bytes + rows * ((LONGEST[kind] ?? 0) + around)
  }
  return bound
}

/** All texts of a column at once: searching these for a byte is much quicker than searching each, most in a Buffer. */
export function textsOf({ bytes, offsets }: Vector, rows: number): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, offsets[rows])
}

/** Whether there is a control character (below the blank). The bytes must begin at a multiple of four. */
export function hasControls(bytes: Uint8Array): boolean {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)
  let found = 0
  // Four bytes at a time: subtracting 32 from a control character sets the top bit of its byte.
  for (let i = 0; i < words.length; i++) found |= (words[i]! - 0x20202020) & ~words[i]!
  for (let i = words.length * 4; i < bytes.length; i++) found |= bytes[i]! < 0x20 ? -1 : 0
  return (found & 0x80808080) !== 0
}

/** Copies bytes, eight at a time; up to seven more may be read and overwritten. */
export function plainText(view: DataView, at: number, from: DataView, start: number, end: number): number {
  const stop = at + end - start
  for (; at < stop; at += 8, start += 8) view.setBigInt64(at, from.getBigInt64(start, true), true)
  return stop
}

type Base64Writer = (target: Uint8Array, at: number, bytes: Uint8Array, start: number, end: number) => number

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Base64 with padding (RFC 4648, section 4). */
export const writeBase64 = base64Writer(`${LETTERS}+/`)

/** Base64 for URLs, with padding (RFC 4648, section 5). */
export const writeBase64Url = base64Writer(`${LETTERS}-_`)

function base64Writer(digits: string): Base64Writer {
  const alphabet = Buffer.from(digits)
  return (target, at, bytes, start, end) => {
    for (let i = start; i < end; i += 3) {
      const left = end - i
      const group = (bytes[i]! << 16) | (left > 1 ? bytes[i + 1]! << 8 : 0) | (left > 2 ? bytes[i + 2]! : 0)
      target[at] = alphabet[group >> 18]!
      target[at + 1] = alphabet[(group >> 12) & 63]!
      target[at + 2] = left > 1 ? alphabet[(group >> 6) & 63]! : 0x3d
      target[at + 3] = left > 2 ? alphabet[group & 63]! : 0x3d
      at += 4
    }
    return at
  }
}

/**
 * Code fragments for a loop over rows that is made for the columns of one result. A loop that checks the kind of each
 * value takes twice as long as one whose body is the code of the columns, one after another. So the body is put
 * together as JavaScript, once for an export. It consists of the fragments in the encoders and of numbers; names and
 * values of users are never part of it (names that an encoder writes are turned into numbers by `write`).
 *
 * A fragment must increase `at` by what it writes. It may use `bytes` and `view` (the same memory, to write into),
 * `row` (in the batch), `first` (rows before the batch), `start` (in `opening` only; what the encoder gives), `x`, `y`,
 * `z` (numbers that `before` may set for the row), the given helpers, and the parts of its column that it names with
 * `of`.
 */
export interface RowCode {
  /** Runs once for each batch, before its rows, and may declare variables for `before` and `after`. */
  readonly opening?: string
  readonly before?: string
  readonly cells: readonly CellCode[]
  readonly after?: string
  readonly helpers?: Readonly<Record<string, unknown>>
}

export interface CellCode {
  readonly before?: string
  /** Writes a value that is not null. */
  readonly value: string
  /** Writes a value that is null. */
  readonly missing?: string
  readonly after?: string
}

/** Writes all rows of a batch and returns the position after them. `marks` has a number for each column's fragments. */
export type RowsWriter = (
  bytes: Uint8Array,
  view: DataView,
  at: number,
  vectors: readonly Vector[],
  marks: Uint8Array,
  rows: number,
  first: number,
  start?: number,
) => number

/** Parts of a column that fragments may use, and where they come from. */
const PARTS = {
  words: (column: number) => `vectors[${column}].words`,
  doubles: (column: number) => `vectors[${column}].doubles`,
  offsets: (column: number) => `vectors[${column}].offsets`,
  data: (column: number) => `vectors[${column}].bytes`,
  text: (column: number) => `vectors[${column}].view`,
  vector: (column: number) => `vectors[${column}]`,
  mark: (column: number) => `marks[${column}]`,
} as const

/** The name of a part of a column in fragments: `of('words', 3)`. */
export function of(part: keyof typeof PARTS, column: number): string {
  return `${part}_${column}`
}

/** If there are more columns than this, each function writes this many: V8 doesn't optimise much larger functions. */
const BLOCK = 24

const HELPERS = { bool, real, date, time, timestamp, decimal, int64 }

/**
 * What makes a writer of the helpers, by its source. V8 optimises a loop after some thousand rows, so the exports of one
 * table share it, and short ones don't begin with slow code.
 */
const makers = new LRUCache<string, (...helpers: unknown[]) => RowsWriter>({ max: 64 })

/** The function is made at its first use, because the thread that begins an export often encodes no rows. */
export function compileRows(codeOf: () => RowCode): RowsWriter {
  let made: RowsWriter | undefined
  return (...given) => (made ??= compile(codeOf()))(...given)
}

function compile({ opening = '', before = '', cells, after = '', helpers = {} }: RowCode): RowsWriter {
  const codes = cells.map(cellCode)
  const loop = (body: string): string => `
    return (bytes, view, at, vectors, marks, rows, first, start) => {
      ${body}
      return at
    }`
  const row = (body: string): string => `
    ${opening}
    for (let row = 0; row < rows; row++) {
      let x = 0, y = 0, z = 0
      ${before}
      ${body}
      ${after}
    }`
  let source: string
  if (cells.length <= BLOCK) {
    // The parts of a column that the loop uses are looked up once, before the loop.
    const declared = codes.map((code, column) => declarations(code, column)).join('\n')
    source = loop(`${declared}\n${row(codes.join('\n'))}`)
  } else {
    const blocks: string[] = []
    for (let from = 0; from < codes.length; from += BLOCK) {
      const body = codes
        .slice(from, from + BLOCK)
        .map((code, index) => `{ ${declarations(code, from + index)}\n${code} }`)
      blocks.push(
        `(bytes, view, at, vectors, marks, row, first, x, y, z) => { ${body.join('\n')}\nreturn at }`,
      )
    }
    const names = blocks.map((_, index) => `block${index}`)
    const calls = names.map((name) => `at = ${name}(bytes, view, at, vectors, marks, row, first, x, y, z)`)
    source =
      names.map((name, index) => `const ${name} = ${blocks[index]}`).join('\n') + loop(row(calls.join('\n')))
  }
  const scope = { ...HELPERS, ...helpers }
  const names = Object.keys(scope)
  const key = `${names.join()}\n${source}`
  let maker = makers.get(key)
  if (!maker) {
    maker = new Function(...names, source) as (...helpers: unknown[]) => RowsWriter
    makers.set(key, maker)
  }
  return maker(...Object.values(scope))
}

function cellCode({ before = '', value, missing = '', after = '' }: CellCode, column: number): string {
  const validity = `validity_${column}`
  return `${before}
    if (${validity} === undefined || (${validity}[row >> 3] >> (row & 7)) & 1) { ${value} } else { ${missing} }
    ${after}`
}

function declarations(code: string, column: number): string {
  const parts = Object.entries(PARTS).filter(([part]) => code.includes(`${part}_${column}`))
  const declared = parts.map(([part, from]) => `const ${part}_${column} = ${from(column)};`)
  return `const validity_${column} = vectors[${column}].validity; ${declared.join(' ')}`
}

/** Code that writes a text that is known beforehand, by storing its UTF-8 bytes four at a time. */
export function write(text: string): string {
  const bytes = Buffer.from(text)
  const padded = Buffer.concat([bytes, Buffer.alloc(3)])
  const stores: string[] = []
  for (let i = 0; i < bytes.length; i += 4) {
    stores.push(`view.setInt32(at${i > 0 ? ` + ${i}` : ''}, ${padded.readInt32LE(i)}, true);`)
  }
  return `${stores.join(' ')} at += ${bytes.length};`
}

/**
 * Writes a value of fixed width, not null, as text without quotes. Returns the position after it.
 * @param kind a kind that comes before `uuid` in `KIND`
 */
export function fixedCell(
  view: DataView,
  at: number,
  vector: Vector,
  row: number,
  kind: number,
  scale: number,
): number {
  return (cellWriters[kind] ??= cellWriter(kind))(view, at, vector, row, scale)
}

type CellWriter = (view: DataView, at: number, vector: Vector, row: number, scale: number) => number

const cellWriters: CellWriter[] = []

function cellWriter(kind: number): CellWriter {
  const column = '{ words: words_0, doubles: doubles_0, bytes: data_0 }'
  const source = `return (view, at, ${column}, row, scale) => { ${fixed(kind, 0, 'scale')}; return at }`
  return new Function(...Object.keys(HELPERS), source)(...Object.values(HELPERS))
}

/** Code that writes a value of fixed width as text without quotes. */
export function fixed(kind: number, column: number, scale: number | 'scale'): string {
  const words = of('words', column)
  const pair = `${words}[2 * row], ${words}[2 * row + 1]`
  switch (kind) {
    case KIND.boolean:
      return `at = bool(view, at, (${of('data', column)}[row >> 3] >> (row & 7)) & 1)`
    case KIND.integer:
      return `at = int64(view, at, ${pair})`
    case KIND.double:
      return `at = real(view, at, ${of('doubles', column)}[row])`
    case KIND.decimal:
      return `at = decimal(view, at, ${words}, 4 * row, ${scale})`
    case KIND.date:
      return `at = date(view, at, ${words}[row])`
    case KIND.time:
      return `at = time(view, at, ${pair})`
    case KIND.timestamp:
    case KIND.timestamptz:
      return `at = timestamp(view, at, ${pair}, ${kind === KIND.timestamptz})`
    default:
      throw new Error(`Kind ${kind} has no fixed width`)
  }
}
