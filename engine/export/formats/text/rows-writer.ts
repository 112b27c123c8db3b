import { LRUCache } from 'lru-cache'
import type { Vector } from '../../../duckdb/batch.ts'
import { bool, KIND, real } from './cells.ts'
import { date, time, timestamp } from './moments.ts'
import { decimal, int64 } from './numbers.ts'

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

/** A function that is made at its first use, because the thread that begins an export often encodes no rows. */
export function whenUsed<Arguments extends unknown[], Result>(
  make: () => (...given: Arguments) => Result,
): (...given: Arguments) => Result {
  let made: ReturnType<typeof make> | undefined
  return (...given) => (made ??= make())(...given)
}

export function compileRows(code: RowCode): RowsWriter {
  return whenUsed(() => compile(code))
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

/** Code that writes a value of fixed width as text without quotes. */
export function fixed(kind: number, column: number, scale: number): string {
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
