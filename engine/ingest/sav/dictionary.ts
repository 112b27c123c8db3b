import type { FileHandle } from 'node:fs/promises'
import { malformed } from '../text/errors.ts'

/** Which numbers of a variable are missing: single values, and those of a range. Of texts, only single ones. */
interface Missing {
  readonly values: readonly Buffer[]
  readonly range?: readonly [Buffer, Buffer]
}

/** A value and its label, both as in the file. */
type ValueLabel = readonly [value: Buffer, label: Buffer]

/** A variable of an SPSS file. */
export interface Variable {
  readonly name: string
  readonly label: string
  /** Bytes of a text; 0 for a number. */
  readonly width: number
  /** The type of its print format, such as `DATE`, and its decimal places. */
  readonly format: number
  readonly decimals: number
  /** Where its pieces are in a case, in bytes from its beginning: a long text has several. */
  readonly pieces: readonly { readonly from: number; readonly bytes: number }[]
  readonly missing: Missing
  readonly labels: readonly ValueLabel[]
}

/** What precedes the cases of an SPSS file. */
export interface SavDictionary {
  readonly title: string
  readonly variables: readonly Variable[]
  /** 0: none, 1: bytecode, 2: bytecode in zlib. */
  readonly compression: number
  readonly bias: number
  /** How many cases there are, where the file says so. */
  readonly count: number | undefined
  /** The bytes of a case. */
  readonly caseBytes: number
  /** Where the cases begin. */
  readonly end: number
  readonly decoder: TextDecoder
}

/** How many labels all variables may have together; they share them. */
const MOST_LABELS = 10_000_000
/** More bytes before the cases are refused: ten thousand variables have some megabytes. */
const MOST_BYTES = 256 * 2 ** 20

/** @throws EngineError `invalid_upload` */
export async function readDictionary(handle: FileHandle): Promise<SavDictionary> {
  const { size } = await handle.stat()
  for (let length = 256 * 1024; ; length *= 4) {
    const buffer = Buffer.alloc(Math.min(length, size, MOST_BYTES))
    await handle.read(buffer, 0, buffer.length, 0)
    try {
      return new DictionaryReader(buffer).read()
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      if (buffer.length === size || buffer.length === MOST_BYTES) throw damaged()
    }
  }
}

interface Raw {
  readonly short: string
  readonly label: Buffer
  width: number
  readonly format: number
  readonly missing: Missing
  readonly pieces: { from: number; bytes: number }[]
  readonly labels: ValueLabel[]
}

/** The numbers of records and of their kinds (PSPP's description of system files, https://www.gnu.org/software/pspp/pspp-dev/). */
const [VARIABLE, LABELS, LABELS_FOR, DOCUMENT, EXTENSION, END] = [2, 3, 4, 6, 7, 999]
const [MACHINE, LONG_NAMES, LONG_TEXTS, ENCODING, LONG_LABELS, LONG_MISSING] = [3, 13, 14, 20, 21, 22]
/** Bytes of one segment of a text of more than 255 bytes, of which each but the last has 252 that count. */
const SEGMENT = 252

/** Reads the records before the cases. A `RangeError` says that the buffer ends too early. */
class DictionaryReader {
  readonly #buffer: Buffer
  #at = 176
  /** By the positions of their elements of eight bytes: long texts have several. */
  readonly #elements: (Raw | undefined)[] = []
  readonly #variables: Raw[] = []
  readonly #extensions = new Map<number, Buffer>()
  #codepage = 0
  #labelCount = 0

  constructor(buffer: Buffer) {
    this.#buffer = buffer
    if ([2, 3].includes(buffer.readInt32BE(64)))
      throw malformed(
        'The SPSS file was written on a big-endian machine. Open it in SPSS or PSPP, and save it again.',
      )
    if (![2, 3].includes(buffer.readInt32LE(64))) throw damaged()
  }

  read(): SavDictionary {
    for (;;) {
      const record = this.#int()
      if (record === VARIABLE) this.#variable()
      else if (record === LABELS) this.#labels()
      else if (record === DOCUMENT) this.#take(80 * this.#count(MOST_BYTES / 80))
      else if (record === EXTENSION) this.#extension()
      else if (record === END) break
      else throw damaged()
    }
    this.#int()
    return this.#dictionary()
  }

  #dictionary(): SavDictionary {
    const buffer = this.#buffer
    const decoder = this.#decoder()
    const text = (bytes: Uint8Array) => decodeText(decoder, bytes).trimEnd()
    // A label that is not of the encoding is no reason to refuse the rows.
    const words = (bytes: Uint8Array) => new TextDecoder(decoder.encoding).decode(bytes).trimEnd()
    const names = new Map(this.#pairs(LONG_NAMES).map(([short, long]) => [short, text(long)]))
    const merged = this.#merged()
    const byName = new Map<string, Raw>()
    for (const one of merged) byName.set(one.short, one).set(names.get(one.short) ?? one.short, one)
    this.#longLabels((name) => byName.get(text(name)))
    const long = this.#longMissing((name) => byName.get(text(name)))
    const count = buffer.readInt32LE(80)
    return {
      title: words(buffer.subarray(109, 173)),
      variables: merged.map(({ short, label, format, ...one }) => ({
        ...one,
        name: names.get(short) ?? text(Buffer.from(short, 'latin1')),
        label: words(label),
        format: (format >> 16) & 0xff,
        decimals: format & 0xff,
        missing: long.get(short) ?? one.missing,
      })),
      compression: buffer.readInt32LE(72),
      bias: buffer.readDoubleLE(84),
      count: count < 0 ? undefined : count,
      caseBytes: 8 * this.#elements.length,
      end: this.#at,
      decoder,
    }
  }

  #variable(): void {
    const [width, hasLabel, missing, format] = [this.#int(), this.#int(), this.#int(), this.#int()]
    this.#int()
    const short = this.#take(8).toString('latin1').trimEnd()
    let label: Buffer = Buffer.alloc(0)
    if (hasLabel === 1) {
      const length = this.#count(MOST_BYTES)
      label = this.#take(length)
      this.#take(-length & 3)
    }
    if (Math.abs(missing) > 3 || width < -1 || width > 255) throw damaged()
    const values = Array.from({ length: Math.abs(missing) }, () => this.#take(8))
    const [low, high] = values
    const from = 8 * this.#elements.length
    if (width === -1) this.#elements.push(undefined)
    else {
      const raw: Raw = {
        ...{ short, label, width, format, labels: [], pieces: [{ from, bytes: width === 0 ? 8 : width }] },
        missing: missing < 0 ? { values: values.slice(2), range: [low!, high!] } : { values },
      }
      this.#elements.push(raw)
      this.#variables.push(raw)
    }
  }

  #labels(): void {
    const labels = Array.from({ length: this.#count() }, () => {
      const value = this.#take(8)
      const length = this.#take(1)[0]!
      const label = this.#take(length)
      this.#take(-(length + 1) & 7)
      return [value, label] as const
    })
    if (this.#int() !== LABELS_FOR) throw damaged()
    const count = this.#count()
    this.#labelCount += labels.length * count
    if (this.#labelCount > MOST_LABELS) throw damaged()
    for (let left = count; left > 0; left--) {
      const variable = this.#elements[this.#int() - 1]
      if (!variable) throw damaged()
      for (const one of labels) variable.labels.push(one)
    }
  }

  #extension(): void {
    const [kind, size, count] = [this.#int(), this.#count(MOST_BYTES), this.#count(MOST_BYTES)]
    if (size * count > MOST_BYTES) throw damaged()
    const [at, data] = [this.#at, this.#take(size * count)]
    this.#extensions.set(kind, data)
    if (kind !== MACHINE) return
    this.#at = at + 28
    this.#codepage = this.#int()
    this.#at = at + data.length
  }

  /** The texts of more than 255 bytes as one variable each. */
  #merged(): Raw[] {
    const widths = new Map(
      this.#pairs(LONG_TEXTS).map(([short, width]) => [short, Number.parseInt(String(width), 10)]),
    )
    const merged: Raw[] = []
    for (let at = 0; at < this.#variables.length; at++) {
      const variable = this.#variables[at]!
      merged.push(variable)
      const width = widths.get(variable.short)
      if (width === undefined) continue
      for (let more = Math.ceil(width / SEGMENT) - 1; more > 0; more--) {
        const segment = this.#variables[++at]
        if (!segment || segment.width === 0) throw damaged()
        variable.pieces.push(...segment.pieces)
      }
      variable.width = width
    }
    return merged
  }

  /** `NAME=value` of variables, between tabs. */
  #pairs(kind: number): [string, Buffer][] {
    const data = this.#extensions.get(kind) ?? Buffer.alloc(0)
    const pairs = data.toString('latin1').split(/\0?\t/)
    return pairs.flatMap((pair) => {
      const equals = pair.indexOf('=')
      return equals < 0 ? [] : [[pair.slice(0, equals), Buffer.from(pair.slice(equals + 1), 'latin1')]]
    })
  }

  #longLabels(variableOf: (name: Buffer) => Raw | undefined): void {
    this.#within(LONG_LABELS, () => {
      const variable = variableOf(this.#text())
      this.#int()
      for (let left = this.#count(); left > 0; left--) variable?.labels.push([this.#text(), this.#text()])
    })
  }

  #longMissing(variableOf: (name: Buffer) => Raw | undefined): Map<string, Missing> {
    const found = new Map<string, Missing>()
    this.#within(LONG_MISSING, () => {
      const variable = variableOf(this.#text())
      const values = Array.from({ length: this.#take(1)[0]! }, (_, at) => {
        if (at === 0) this.#int()
        return this.#take(8)
      })
      if (variable) found.set(variable.short, { values })
    })
    return found
  }

  /** Reads the records of an extension. */
  #within(kind: number, read: () => void): void {
    const data = this.#extensions.get(kind)
    if (!data) return
    const end = this.#at
    this.#at = data.byteOffset - this.#buffer.byteOffset
    const until = this.#at + data.length
    while (this.#at < until) read()
    this.#at = end
  }

  /** The encoding that the file names, or the code page of Windows that it gives. */
  #decoder(): TextDecoder {
    const named = this.#extensions.get(ENCODING)?.toString('latin1').trim()
    const page = this.#codepage
    const usual = page === 65001 ? 'utf-8' : page >= 1250 && page <= 1258 ? `windows-${page}` : 'windows-1252'
    try {
      return new TextDecoder(named ?? usual, { fatal: true, ignoreBOM: true })
    } catch {
      throw malformed(
        `The SPSS file has texts in ${JSON.stringify(named)}, which is not known. Save it in Unicode.`,
      )
    }
  }

  #text(): Buffer {
    return this.#take(this.#count(MOST_BYTES))
  }

  #count(most = 1_000_000): number {
    const count = this.#int()
    if (count < 0 || count > most) throw damaged()
    return count
  }

  #int(): number {
    return this.#take(4).readInt32LE()
  }

  /** @throws RangeError */
  #take(bytes: number): Buffer {
    const taken = this.#buffer.subarray(this.#at, this.#at + bytes)
    if (taken.length < bytes) throw new RangeError()
    this.#at += bytes
    return taken
  }
}

/**
 * A text of the file. The last character may be cut off, as SPSS does it where a text has too many bytes for its variable.
 * @throws TypeError if it is not of the encoding
 */
export function decodeText(decoder: TextDecoder, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    const whole = new TextDecoder(decoder.encoding, { fatal: true, ignoreBOM: true })
    return whole.decode(bytes, { stream: true })
  }
}

export function damaged(): Error {
  return malformed('The SPSS file is damaged, or cut off.')
}
