import { LRUCache } from 'lru-cache'
import type { Batch, Vector } from '../../duckdb/batch.ts'
import type { EncodedColumn, EncodeOptions, Encoder, ODataJson, Output } from './encoder.ts'
import {
  boundOf,
  compileRows,
  fixed,
  hasControls,
  KIND,
  of,
  plainText,
  real,
  type Shape,
  shapeOf,
  textsOf,
  write,
  writeBase64,
  writeBase64Url,
} from './text/cells.ts'
import { double, fourDigits, MAX_INTEGER, unsigned } from './text/digits.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const MINUS = 0x2d
/**
 * An array of objects, one on each line. Numbers are exact: integers and decimals with all their digits, doubles in
 * their shortest form; `NaN`, `INF` and `-INF` are strings. Values of json columns are embedded.
 */
export const json = (
  columns: readonly EncodedColumn[],
  { odata, numbers, decimals, ieee754 }: EncodeOptions,
): Encoder => {
  const quote = ieee754 || odata?.ieee754 ? EXACT : decimals === 'text' ? [KIND.decimal] : []
  const writeBatch = arrayWriter(columns, odata, numbers?.names ?? [], quote)
  return {
    begin: (out) => out.append(Buffer.from('[')),
    batch: (batch, first, out) => writeBatch(batch, first, out, numbers?.first),
    end: (_rows, out) => out.append(Buffer.from(']\n')),
  }
}

/** Kinds of numbers with more digits than a double may keep. */
const EXACT = [KIND.integer, KIND.decimal]

/** One object on each line, written as in json, without the array around them. */
export const ndjson = (columns: readonly EncodedColumn[], { decimals }: EncodeOptions): Encoder => ({
  begin() {},
  batch: batchWriter(columns, { quote: decimals === 'text' ? [KIND.decimal] : [] }, [], '', write('}\n')),
  end() {},
})

/** Like `batch` of an encoder. `start` is the number of the first row of the result, for columns of row numbers. */
type BatchWriter = (batch: Batch, first: number, out: Output, start?: number) => void

/** Writers by what they were made of: the pages of a table share one, because to make one takes long for a page. */
const arrayWriters = new LRUCache<string, BatchWriter>({ max: 64 })

function arrayWriter(
  columns: readonly EncodedColumn[],
  odata: ODataJson | undefined,
  numberNames: readonly string[],
  quote: readonly number[],
): BatchWriter {
  const maps = [odata?.before, odata?.within].map((map) => map && [...map])
  const key = JSON.stringify([columns, odata, maps, numberNames, quote])
  let writer = arrayWriters.get(key)
  if (!writer) {
    const shown = odata ? columns.map(odataColumn) : columns
    const separator = `if (first + row > 0) { ${write(',\n')} }`
    writer = batchWriter(shown, { odata, quote }, numberNames, separator, write('}'))
    arrayWriters.set(key, writer)
  }
  return writer
}

function batchWriter(
  columns: readonly EncodedColumn[],
  { odata, quote }: { readonly odata?: ODataJson | undefined; readonly quote: readonly number[] },
  names: readonly string[],
  before: string,
  after: string,
): BatchWriter {
  const shape = shapeOf(columns.map((column) => column.type))
  const numbers = names.length > 0
  const keys = [...names, ...columns.map(({ name }) => name)].map((name, index) => {
    return `${index === 0 ? '{' : ','}${odata?.before?.get(name) ?? ''}${JSON.stringify(name)}:`
  })
  const numberKeys = keys.splice(0, names.length)
  const numberCode = names.map((name, index) => {
    const code =
      'at = upper > 0 ? fourDigits(view, unsigned(view, at, upper), lower) : unsigned(view, at, lower)'
    const number = surrounded(code, odata?.within?.get(name), quote.includes(KIND.integer))
    return `${write(numberKeys[index]!)} ${number};`
  })
  const pairs = columns.map(({ name }) => odata?.within?.get(name))
  const base64 = odata ? 'writeBase64Url' : 'writeBase64'
  const writeRows = compileRows(() => ({
    // Counting in two parts takes a third of the time of dividing each number to get its digits.
    opening: numbers
      ? 'let upper = Math.floor((start + first) / 10_000), lower = start + first - upper * 10_000'
      : '',
    before: `${before} ${numberCode.join(' ')} ${numbers ? 'if (++lower === 10_000) { lower = 0; upper++ }' : ''}`,
    cells: columns.map((_, column) => ({
      before: write(keys[column]!),
      value: surrounded(cellCode(shape, column, base64), pairs[column], quote.includes(shape.kinds[column]!)),
      missing: write('null'),
    })),
    after,
    helpers: {
      unsigned,
      fourDigits,
      number,
      embedJson,
      plainText,
      escaped,
      writeBase64,
      writeBase64Url,
    },
  }))
  // The bytes besides a value: its key, quotes or `null`, and its share of the text between rows.
  const texts = pairs.map((pair) => Buffer.byteLength(pair?.join('') ?? ''))
  const around = Math.max(...keys.map((key, column) => Buffer.byteLength(key) + texts[column]!)) + 12
  const numberBytes = names.reduce((sum, name, index) => {
    const texts = odata?.within?.get(name)?.join('') ?? ''
    return sum + Buffer.byteLength(numberKeys[index]! + texts) + MAX_INTEGER + 8
  }, 0)
  return (batch, first, out, start) => {
    const factors = Uint8Array.from(batch.vectors, (vector, column) =>
      growth(vector, batch.rows, shape.kinds[column]!),
    )
    out.reserve(boundOf(batch, shape, around, (column) => factors[column]!) + batch.rows * numberBytes)
    out.length = writeRows(out.bytes, out.view, out.length, batch.vectors, factors, batch.rows, first, start)
  }
}

function cellCode({ kinds, scales }: Shape, column: number, base64: string): string {
  const kind = kinds[column]!
  if (kind === KIND.double) return `at = number(bytes, view, at, ${of('doubles', column)}[row])`
  if (kind < KIND.date) return fixed(kind, column, scales[column]!)
  if (kind < KIND.uuid) return quoted(fixed(kind, column, scales[column]!))
  const offsets = of('offsets', column)
  const ends = `${offsets}[row], ${offsets}[row + 1]`
  const data = of('data', column)
  if (kind === KIND.json) return `at = embedJson(bytes, at, ${data}, ${ends})`
  if (kind === KIND.binary) return quoted(`at = ${base64}(bytes, at, ${data}, ${ends})`)
  const plain = `plainText(view, at, ${of('text', column)}, ${ends})`
  if (kind === KIND.uuid) return quoted(`at = ${plain}`)
  return quoted(`at = ${of('mark', column)} === 1 ? ${plain} : escaped(bytes, at, ${data}, ${ends})`)
}

const quoted = (code: string): string => `bytes[at++] = ${QUOTE}; ${code}; bytes[at++] = ${QUOTE}`

/** OData has no timestamp without a zone; and JSON is sent as text, for clients that don't know `Edm.Untyped`. */
function odataColumn({ name, type }: EncodedColumn): EncodedColumn {
  return { name, type: type === 'timestamp' ? 'timestamptz' : type === 'json' ? 'string' : type }
}

/** Code that writes what `code` writes, with the text or the quotes around it that are wanted. */
function surrounded(code: string, around: readonly [string, string] | undefined, isQuoted: boolean): string {
  if (around)
    return `${write(JSON.stringify(around[0]).slice(0, -1))} ${code}; ${write(JSON.stringify(around[1]).slice(1))}`
  return isQuoted ? quoted(code) : code
}

function number(bytes: Uint8Array, view: DataView, at: number, value: number): number {
  if (Number.isFinite(value)) return double(view, at, value)
  bytes[at] = QUOTE
  at = real(view, at + 1, value)
  bytes[at] = QUOTE
  return at + 1
}

/** How many bytes a byte of a column's texts may become: 1 where none needs an escape, 6 for `\u001f`. */
function growth(vector: Vector, rows: number, kind: number): number {
  if (kind < KIND.string) return 1
  if (kind === KIND.json) return 2
  const texts = textsOf(vector, rows)
  if (hasControls(texts)) return 6
  return texts.includes(QUOTE) || texts.includes(BACKSLASH) ? 2 : 1
}

/** The letter after the backslash of a short escape, by character; 0 if there is no short escape. */
const SHORT = new Uint8Array(128)
for (const [byte, letter] of Object.entries({
  8: 'b',
  9: 't',
  10: 'n',
  12: 'f',
  13: 'r',
  34: '"',
  92: '\\',
})) {
  SHORT[Number(byte)] = letter.charCodeAt(0)
}
const HEX = Buffer.from('0123456789abcdef')

function escaped(bytes: Uint8Array, at: number, from: Uint8Array, start: number, end: number): number {
  for (let i = start; i < end; i++) {
    const byte = from[i]!
    if (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) {
      bytes[at++] = byte
      continue
    }
    bytes[at++] = BACKSLASH
    const short = SHORT[byte]!
    if (short !== 0) {
      bytes[at++] = short
      continue
    }
    bytes[at++] = 0x75
    bytes[at++] = 0x30
    bytes[at++] = 0x30
    bytes[at++] = HEX[byte >> 4]!
    bytes[at++] = HEX[byte & 15]!
  }
  return at
}

/** Whether a byte may begin a word that DuckDB accepts as a number: nan, inf, infinity, in upper or lower case. */
const isWordStart = (byte: number): boolean => (byte | 0x20) === 0x6e || (byte | 0x20) === 0x69

/**
 * Embeds JSON text. DuckDB's JSON allows a little more than JSON: numbers may be `NaN` and `Infinity`. They become the
 * strings `NaN`, `INF` and `-INF`, as everywhere else. Line breaks between tokens become blanks, so that a row stays on
 * one line. The text becomes at most twice as long. Returns the position after it.
 */
function embedJson(bytes: Uint8Array, at: number, from: Uint8Array, start: number, end: number): number {
  let inString = false
  for (let i = start; i < end; i++) {
    const byte = from[i]!
    if (inString) {
      bytes[at++] = byte
      if (byte === BACKSLASH) bytes[at++] = from[++i]!
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) {
      bytes[at++] = byte
      inString = true
    } else if (byte < 0x20) {
      bytes[at++] = 0x20
    } else if (isWordStart(byte) && (from[i + 1]! | 0x20) !== 0x75) {
      const negative = from[i - 1] === MINUS && i > start
      if (negative) at--
      const word = (byte | 0x20) === 0x6e ? '"NaN"' : negative ? '"-INF"' : '"INF"'
      for (let k = 0; k < word.length; k++) bytes[at++] = word.charCodeAt(k)
      while (i + 1 < end && isLetter(from[i + 1]!)) i++
    } else {
      bytes[at++] = byte
    }
  }
  return at
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x7a
}
