import type { FileHandle } from 'node:fs/promises'
import { inflateSync } from 'node:zlib'
import { unpackingTo } from '../file.ts'
import { damaged, type SavDictionary } from './dictionary.ts'

/** The lowest double stands for a number that is missing. */
export const SYSTEM_MISSING = -Number.MAX_VALUE

const CHUNK = 1024 * 1024
/** The bytes of a variable's element, and of an entry of the list of zlib's blocks. */
const [ELEMENT, ENTRY] = [8, 24]
const MOST_BLOCK = 64 * 2 ** 20
/** The codes of the bytecode; those between stand for small whole numbers. */
const [PADDING, END, LITERAL, BLANKS, MISSING] = [0, 252, 253, 254, 255]

/**
 * The cases of a file as they are without compression. The buffer is the same for all.
 * @throws EngineError `invalid_upload`, `upload_too_large`
 */
export async function* readCases(
  handle: FileHandle,
  dictionary: SavDictionary,
  unpackedBytes: number,
): AsyncGenerator<Buffer> {
  const { compression, caseBytes, end } = dictionary
  if (caseBytes === 0 || ![0, 1, 2].includes(compression)) throw damaged()
  const isZlib = compression === 2
  const chunks = isZlib ? zlibBlocks(handle, dictionary, unpackedBytes) : chunksOf(handle, end)
  const cases = new Cases(dictionary)
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const whole = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const length = whole.length - (whole.length % ELEMENT)
    rest = Buffer.from(whole.subarray(length))
    yield* compression === 0 ? cases.plain(whole.subarray(0, length)) : cases.coded(whole.subarray(0, length))
    if (cases.isAtEnd) break
  }
  if (!cases.isWhole || (rest.length > 0 && !cases.isAtEnd)) throw damaged()
}

/** Puts cases together from their elements. */
class Cases {
  isAtEnd = false
  readonly #case: Buffer
  #filled = 0
  #codes = Buffer.alloc(0)
  #next = 0
  readonly #numbers: readonly Buffer[]

  constructor({ caseBytes, bias }: SavDictionary) {
    this.#case = Buffer.alloc(caseBytes)
    this.#numbers = Array.from({ length: MISSING + 1 }, (_, code) => {
      const element = Buffer.alloc(ELEMENT, ' ')
      if (code === BLANKS) return element
      const number = code === MISSING ? SYSTEM_MISSING : code - bias
      element.writeDoubleLE(number)
      return element
    })
  }

  /** Whether no case is cut off. */
  get isWhole(): boolean {
    return this.#filled === 0
  }

  *plain(bytes: Buffer): Generator<Buffer> {
    for (let at = 0; at < bytes.length; ) {
      const taken = bytes.copy(this.#case, this.#filled, at)
      at += taken
      this.#filled += taken
      if (this.#filled === this.#case.length) yield this.#take()
    }
  }

  /** Eight codes at a time, and behind them the elements that they don't stand for. */
  *coded(bytes: Buffer): Generator<Buffer> {
    for (let at = 0; ; ) {
      if (this.#next === this.#codes.length) {
        if (at === bytes.length) return
        this.#codes = Buffer.from(bytes.subarray(at, at + ELEMENT))
        this.#next = 0
        at += ELEMENT
      }
      const code = this.#codes[this.#next]!
      if (code === LITERAL) {
        if (at === bytes.length) return
        bytes.copy(this.#case, this.#filled, at, at + ELEMENT)
        at += ELEMENT
      } else if (code === END) {
        this.isAtEnd = true
        return
      } else if (code !== PADDING) this.#case.set(this.#numbers[code]!, this.#filled)
      this.#next++
      if (code !== PADDING) this.#filled += ELEMENT
      if (this.#filled === this.#case.length) yield this.#take()
    }
  }

  #take(): Buffer {
    this.#filled = 0
    return this.#case
  }
}

async function* chunksOf(handle: FileHandle, from: number): AsyncGenerator<Buffer> {
  for (let at = from; ; ) {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(CHUNK), 0, CHUNK, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

async function* zlibBlocks(
  handle: FileHandle,
  { end }: SavDictionary,
  unpackedBytes: number,
): AsyncGenerator<Buffer> {
  const { size } = await handle.stat()
  const long = (bytes: Buffer, at: number) => Number(bytes.readBigInt64LE(at))
  const read = async (at: number, length: number) => {
    if (!(at >= 0 && length >= 0 && at + length <= size)) throw damaged()
    return (await handle.read(Buffer.alloc(length), 0, length, at)).buffer
  }
  const header = await read(end, ENTRY)
  const list = await read(long(header, ELEMENT), long(header, 2 * ELEMENT))
  const { bytes: most, tooLarge } = unpackingTo(unpackedBytes, size)
  let bytes = 0
  for (let at = ENTRY; at < list.length; at += ENTRY) {
    const [from, unpacked, packed] = [
      long(list, at + 8),
      list.readInt32LE(at + 16),
      list.readInt32LE(at + 20),
    ]
    if (unpacked < 0 || unpacked > MOST_BLOCK) throw damaged()
    bytes += unpacked
    if (bytes > most) throw tooLarge!(most)
    yield inflateSync(await read(from, packed), { maxOutputLength: unpacked })
  }
}
