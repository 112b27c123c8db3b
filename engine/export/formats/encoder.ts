import { constants, crc32, deflateRawSync } from 'node:zlib'
import type { Batch } from '../../duckdb/batch.ts'
import { hint, invalidOption } from '../../errors.ts'
import { DIALECT, type OptionsOf, OTHER_FORMATS, pick } from '../../options.ts'
import type { Column, Format } from '../../types/index.ts'
import { checkOptions } from '../../types/known-options.ts'

export type EncodedColumn = Pick<Column, 'name' | 'type'>

export interface EncodeOptions extends OptionsOf<typeof OTHER_FORMATS> {
  /** Name of the first sheet (xlsx). */
  readonly sheetName?: string
  /** Positions of columns all of whose cells are text (xlsx). */
  readonly textColumns?: ReadonlySet<number>
  /** Compresses the output, in the threads that encode; only for formats that have no compression of their own. */
  readonly coding?: 'gzip'
  /** Writes JSON in the form that OData prescribes (json). */
  readonly odata?: ODataJson
  /** Integers and decimals in quotes (json), for clients that read numbers as doubles. */
  readonly ieee754?: boolean
  /** Columns before all others that contain the number of the row (json). */
  readonly numbers?: RowNumbers
  /** Writes the fields differently from RFC 4180 (csv, tsv). */
  readonly dialect?: Dialect
  /** What the file says about its rows: texts by their keys (parquet, arrow). */
  readonly metadata?: ReadonlyMap<string, string>
  /** Writes uuid and json as plain texts, which every program shows (arrow). */
  readonly plainTypes?: boolean
  /** Text before and after the rows, which is compressed together with them; not in formats with pieces of their own. */
  readonly envelope?: Envelope
}

/** Text before and after the rows. */
export interface Envelope {
  readonly before: string
  /** @param rows number of rows in the whole result */
  after(rows: number): string
}

/** Row numbers, which the encoder counts itself instead of reading them. */
export interface RowNumbers {
  readonly names: readonly string[]
  /** The number of the first row; each following row has the next number. */
  readonly first: number
}

/**
 * Options for OData's JSON (OData JSON Format 4.01, 7.1). It also always differs from ours in three points: every
 * timestamp has a `Z`, binary is base64url, and values of json columns are texts.
 */
export interface ODataJson {
  /** Integers and decimals in quotes (`IEEE754Compatible`, 3.2). */
  readonly ieee754: boolean
  /** JSON text to write before a column's member, by the column's name, such as `"day@odata.type":"#Date",`. */
  readonly before?: ReadonlyMap<string, string>
  /** Integer columns, by name, whose values are written as text: the number between these two strings. */
  readonly within?: ReadonlyMap<string, readonly [before: string, after: string]>
}

/**
 * Writes rows in one format. The whole output is what `begin` appends, then what `batch` appends for each batch in
 * order, then what `end` appends. Batches may be encoded by several encoders on several threads, so an encoder keeps
 * nothing from one batch to the next; `first` tells it which rows a batch holds.
 */
export interface Encoder {
  begin(out: Output): void
  /** @param first how many rows of the result come before this batch */
  batch(batch: Batch, first: number, out: Output): void
  /** @param rows number of rows in the whole result */
  end(rows: number, out: Output): void
  /** How the whole output is compressed. */
  readonly coding?: 'gzip'
  /** For formats whose batches can't simply be joined. Its container then writes the beginning and the end. */
  readonly packing?: Packing
}

/** Compresses pieces in the workers, and puts them in order into a container. */
export interface Packing {
  /** Packs what one or more `batch` calls appended, before it leaves the worker. `first` is that of the first batch. */
  pack(
    piece: Uint8Array<ArrayBuffer>,
    first: number,
    rows: number,
  ): { bytes: Uint8Array<ArrayBuffer>; note: unknown }
  /** Makes the container, which is used on one thread only. */
  container(): Container
}

export interface Container {
  begin(out: Output): void
  /**
   * Adds a packed piece, with the note from `pack`. Pieces come in order. If the bytes are to follow what was appended
   * as they are, they are given back, so that they needn't be copied.
   */
  piece(bytes: Uint8Array<ArrayBuffer>, note: unknown, out: Output): Uint8Array | undefined
  end(rows: number, out: Output): void
}

/**
 * A growing array of bytes. Writers reserve room once for many cells, then write at `length` into `bytes` and `view`
 * (the same memory) and increase `length`. `reserve` may replace `bytes` and `view`.
 */
export class Output {
  bytes: Uint8Array<ArrayBuffer>
  view: DataView<ArrayBuffer>
  length = 0

  /** @param memory what to write into first, or how many bytes to have room for */
  constructor(memory: number | ArrayBuffer) {
    this.bytes = typeof memory === 'number' ? allocate(memory) : new Uint8Array(memory)
    this.view = new DataView(this.bytes.buffer)
  }

  /** Makes sure that `bytes` more bytes fit, and a word beyond them, because words are stored whole. */
  reserve(bytes: number): void {
    if (this.length + bytes + 8 > this.bytes.length) this.#grow(bytes + 8)
  }

  /** Appends bytes as they are. */
  append(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  /** What was written. If its buffer is transferred to another thread, this output can't be used any more. */
  written(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.length)
  }

  #grow(bytes: number): void {
    const larger = allocate(Math.max(2 * this.bytes.length, this.length + bytes))
    larger.set(this.written())
    this.bytes = larger
    this.view = new DataView(larger.buffer)
  }
}

/** New memory, not zeroed: `written` only returns bytes that have been written. */
function allocate(bytes: number): Uint8Array<ArrayBuffer> {
  const { buffer } = Buffer.allocUnsafeSlow(bytes)
  return new Uint8Array(buffer as ArrayBuffer)
}

/** A text as words, for texts that are written often: a short copy loop is faster than `set`. */
export interface Literal {
  readonly words: Uint32Array
  readonly length: number
}

export function literal(text: string): Literal {
  const bytes = Buffer.from(text)
  const words = new Uint32Array((bytes.length + 3) >> 2)
  new Uint8Array(words.buffer).set(bytes)
  return { words, length: bytes.length }
}

/** Writes a literal; room must have been reserved. Returns the position after it. */
export function writeLiteral(view: DataView, at: number, { words, length }: Literal): number {
  for (let i = 0; i < words.length; i++) view.setUint32(at + 4 * i, words[i]!, true)
  return at + length
}

/**
 * The fastest level. For json and csv, level 2 takes up to two fifths longer and its output is a fiftieth smaller at
 * most; level 3 takes half as long again as level 2 for another hundredth. Sheets are repetitive: higher levels take
 * three times as long and save only a tenth.
 */
const LEVEL = 1

/** Deflate, without name, time, level and system (RFC 1952, 2.3), so that the same rows give the same bytes. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255)

/**
 * Compresses the output of an encoder as one gzip member. The threads that encode also deflate their pieces, side by
 * side, and the CRC of the whole is computed from those of the pieces. Repeated text is only found within a piece,
 * which costs little with pieces of a quarter of a megabyte.
 */
export function gzipped(encoder: Encoder): Encoder {
  return {
    ...encoder,
    coding: 'gzip',
    packing: {
      pack(piece) {
        const { bytes, crc, length } = deflate(piece, false)
        return { bytes, note: { crc, length } }
      },
      container: () => new Member(encoder),
    },
  }
}

class Member implements Container {
  readonly #encoder: Encoder
  #crc = 0
  #length = 0

  constructor(encoder: Encoder) {
    this.#encoder = encoder
  }

  begin(out: Output): void {
    out.append(HEADER)
    this.#own((text) => this.#encoder.begin(text), false, out)
  }

  piece(bytes: Uint8Array<ArrayBuffer>, note: unknown): Uint8Array {
    this.#count(note as Pick<Deflated, 'crc' | 'length'>)
    return bytes
  }

  end(rows: number, out: Output): void {
    this.#own((text) => this.#encoder.end(rows, text), true, out)
    // The length modulo 2^32 (2.3.1).
    out.append(new Uint8Array(Uint32Array.of(this.#crc, this.#length % 2 ** 32).buffer))
  }

  /** Compresses the text before or after the rows. */
  #own(write: (text: Output) => void, last: boolean, out: Output): void {
    const text = new Output(1024)
    write(text)
    const part = deflate(text.written(), last)
    this.#count(part)
    out.append(part.bytes)
  }

  #count({ crc, length }: Pick<Deflated, 'crc' | 'length'>): void {
    this.#crc = combineCrc(this.#crc, crc, length)
    this.#length += length
  }
}

/** Some bytes, compressed on their own: such parts, one after another, are one deflate stream (RFC 1951). */
export interface Deflated {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** CRC and length of the bytes before compression. */
  readonly crc: number
  readonly length: number
}

/** @param last whether this ends the stream; all others end at a whole byte */
export function deflate(bytes: Uint8Array, last: boolean): Deflated {
  const { Z_FINISH, Z_SYNC_FLUSH } = constants
  const packed = deflateRawSync(bytes, { level: LEVEL, finishFlush: last ? Z_FINISH : Z_SYNC_FLUSH })
  return { bytes: packed as Uint8Array<ArrayBuffer>, crc: crc32(bytes), length: bytes.length }
}

/** The CRC of zip files (reflected, 0xEDB88320), as polynomials over GF(2) with the highest power in bit 0. */
const POLYNOMIAL = 0xedb88320
const ONE = 0x80000000

function multiply(a: number, b: number): number {
  let product = 0
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= b
    b = b & 1 ? (b >>> 1) ^ POLYNOMIAL : b >>> 1
  }
  return product >>> 0
}

/** x^(2^k) for k = 0 … 31; the powers repeat after that. */
const POWERS: number[] = [ONE >>> 1]
while (POWERS.length < 32) POWERS.push(multiply(POWERS.at(-1)!, POWERS.at(-1)!))

/** The CRC of two pieces put together, from the CRC of each and the length of the second in bytes. */
export function combineCrc(first: number, second: number, secondLength: number): number {
  // To append n bytes is to multiply by x^(8n) = x^(n * 2^3).
  let shift = ONE
  for (let n = secondLength, k = 3; n > 0; n = Math.floor(n / 2), k++) {
    if (n % 2 === 1) shift = multiply(POWERS[k & 31]!, shift)
  }
  return (multiply(shift, first) ^ second) >>> 0
}

/** How csv and tsv are written for programs that need them to differ from RFC 4180. */
export interface Dialect extends OptionsOf<typeof DIALECT> {}

/** The beginning of texts that Excel, LibreOffice and Google Sheets take for formulas, in half and full width. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/

/**
 * @throws EngineError `invalid_option` where options are wrong, contradict each other, or have no meaning in the format
 */
export function checkEncoding(
  format: Format,
  { dialect = {}, ...others }: OptionsOf<typeof OTHER_FORMATS> & { readonly dialect?: Dialect },
): void {
  checkOptions(dialect, DIALECT, format)
  checkOptions(pick(others, OTHER_FORMATS), OTHER_FORMATS, format)
  if (format !== 'parquet' && others.encoding === 'compact') {
    throw invalidOption(`${hint('$encoding=compact')} is for parquet; ${format} has only plain.`, 'encoding')
  }
  const { delimiter, decimal, null: missing, formulas } = dialect
  const between = separatorOf(format, delimiter)
  if (decimal === ',' && between === ',') {
    throw invalidOption(
      `${hint('$decimal=,')} needs another sign between the fields: add ${hint('$delimiter=%3B')}, a semicolon.`,
    )
  }
  if (missing === undefined) return
  if (/["\r\n]/.test(missing) || missing.includes(between) || missing.length > MOST_NULL) {
    throw invalidOption(
      `${hint('$null')} has at most ${MOST_NULL} characters, no quotes, no line end and not what stands between the fields; it is ${JSON.stringify(missing)}.`,
    )
  }
  if (formulas === 'escape' && FORMULA.test(missing)) {
    throw invalidOption(
      `${hint(`$null=${missing.replaceAll('+', '%2B')}`)} is what ${hint('$formulas=escape')} keeps out: it begins as a formula does. Take a text that begins with another sign.`,
    )
  }
}

const MOST_NULL = 64

export function separatorOf(format: Format, delimiter: string | undefined): string {
  return delimiter ?? (format === 'tsv' ? '\t' : ',')
}

/** Whether spreadsheets would calculate a text: it begins with `=`, `+`, `-`, `@`, a tab or a carriage return. */
export function isFormula(text: string): boolean {
  return FORMULA.test(text)
}

/** Like `isFormula`, for UTF-8. */
export function beginsFormula(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start]!
  if (first < 0x80) return FORMULA_BYTES[first] === 1
  // The full-width forms lie between U+FF0B and U+FF20.
  return first === 0xef && isFormula(Buffer.from(bytes.subarray(start, Math.min(start + 3, end))).toString())
}

const FORMULA_BYTES = Uint8Array.from({ length: 128 }, (_, byte) =>
  isFormula(String.fromCharCode(byte)) ? 1 : 0,
)
