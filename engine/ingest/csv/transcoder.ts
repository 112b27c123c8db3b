import { isAscii } from 'node:buffer'
import { hint } from '../../errors.ts'
import type { PieceReader } from '../file.ts'
import type { ReadRequest, UploadOptions } from '../request.ts'
import { malformed } from '../text/errors.ts'
import { decoderOf } from './syntax.ts'

/** A reader of files in the encoding that the options say, which passes them on in UTF-8. */
export function inUtf8(reader: PieceReader, { options = {}, beginning = false }: ReadRequest): PieceReader {
  return (options.encoding ?? 'utf-8') === 'utf-8' ? reader : new Transcoder(reader, options, beginning)
}

class Transcoder implements PieceReader {
  readonly #reader: PieceReader
  readonly #options: UploadOptions
  /** Whether the file may end within a character. */
  readonly #isCut: boolean
  #decoder: TextDecoder | undefined
  /** Decodes the same bytes as UTF-8, as long as they are. */
  #other: TextDecoder | undefined = new TextDecoder('utf-8', { fatal: true })
  #isAscii = true
  /** What the reader has not used yet. */
  #rest: Uint8Array = new Uint8Array()

  constructor(reader: PieceReader, options: UploadOptions, isCut: boolean) {
    this.#reader = reader
    this.#options = options
    this.#isCut = isCut
  }

  get rows(): number {
    return this.#reader.rows
  }

  take(): Uint8Array {
    return this.#reader.take!()
  }

  feed(buffer: Buffer, end: number, final: boolean): number {
    this.#decoder ??= decoderOf(this.#options, buffer)
    this.#refuseUtf8(buffer.subarray(0, end), final)
    const piece = Buffer.concat([this.#rest, this.#decode(buffer.subarray(0, end), final), Buffer.alloc(1)])
    const length = piece.length - 1
    this.#rest = piece.subarray(this.#reader.feed(piece, length, final), length)
    return end
  }

  /** Text with accents that is UTF-8 in each of its bytes is nothing else: `é` would become `Ã©`. */
  #refuseUtf8(bytes: Buffer, final: boolean): void {
    this.#isAscii &&= isAscii(bytes)
    try {
      this.#other?.decode(bytes, { stream: !final || this.#isCut })
    } catch {
      this.#other = undefined
    }
    if (!final || !this.#other || this.#isAscii || this.#options.encoding === 'utf-16') return
    throw malformed(`The file is UTF-8, not ${this.#options.encoding}: add ${hint('encoding=utf-8')}.`)
  }

  #decode(bytes: Uint8Array, final: boolean): Buffer {
    try {
      return Buffer.from(this.#decoder!.decode(bytes, { stream: !final || this.#isCut }))
    } catch {
      throw notEncoded(this.#decoder!.encoding, 'Give the encoding that it has, or save it as UTF-8.')
    }
  }
}

/** The error for bytes that are not of an encoding. */
export function notEncoded(encoding: string, advice: string): Error {
  return malformed(`The file is not ${encoding.toUpperCase()}. ${advice}`)
}
