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
    const piece = Buffer.concat([this.#rest, this.#decode(buffer.subarray(0, end), final), Buffer.alloc(1)])
    const length = piece.length - 1
    this.#rest = piece.subarray(this.#reader.feed(piece, length, final), length)
    return end
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
