import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ByteStream } from '../../engine/export/byte-stream.ts'
import { writeAt } from '../../engine/util/whole-file.ts'

/** Bytes of one stream that wait in memory. */
const IN_MEMORY = 2 ** 20

/** Bytes that wait for the reader: in memory, or in the file from a position on. */
interface Piece {
  /** Rows of the stream up to its end. */
  readonly rows: number
  readonly length: number
  readonly at: Uint8Array | number
}

/**
 * Reads streams to their end while their readers are slower, so that what makes them is free early. What the reader has
 * not taken waits in memory, then in a temporary file; if there is no room, the stream waits for its reader.
 */
export class Spools {
  readonly directory: string
  /** How many more bytes may be in files. */
  room: number

  /** @param most the most bytes of all files together */
  constructor(directory: string, most: number) {
    this.directory = directory
    this.room = most
  }

  /** The same bytes; the result is disposed in place of the stream. */
  spool(stream: ByteStream): ByteStream {
    const backlog = new Backlog(this)
    const filling = backlog.fill(stream)
    let rows = 0
    async function* bytes() {
      for (let piece = await backlog.take(); piece; piece = await backlog.take()) {
        rows = piece.rows
        yield piece.bytes
      }
    }
    const { size, coding, matches } = stream
    return new ByteStream(bytes(), {
      rows: () => rows,
      size,
      coding,
      matches,
      async close() {
        backlog.end()
        await stream[Symbol.asyncDispose]()
        await filling
        await backlog.remove()
      },
    })
  }
}

/** The bytes of one stream that its reader has not taken. */
class Backlog {
  readonly #spools: Spools
  readonly #path: string
  readonly #pieces: Piece[] = []
  #inMemory = 0
  #file: FileHandle | undefined
  /** The bytes of the file, and those of them that wait. */
  #written = 0
  #unread = 0
  /** How the stream has ended; undefined while more may come. */
  #ended: { readonly error?: unknown } | undefined
  /** Resolves when something has changed. */
  #change = Promise.withResolvers<void>()

  constructor(spools: Spools) {
    this.#spools = spools
    this.#path = join(spools.directory, `spool-${randomUUID()}`)
  }

  /** Resolves at the end of the stream, also if it fails: then the reader gets the error. */
  async fill(stream: ByteStream): Promise<void> {
    try {
      for await (const bytes of stream) {
        const { length } = bytes
        const rows = stream.rows()
        let at: Piece['at'] | undefined
        while (at === undefined && !this.#ended) {
          const changed = this.#change.promise
          const fits = this.#inMemory === 0 || this.#inMemory + length <= IN_MEMORY
          at = fits ? bytes : await this.#write(bytes)
          if (at === undefined) await changed
        }
        if (at === undefined) return
        if (at === bytes) this.#inMemory += length
        this.#pieces.push({ rows, length, at })
        this.#changed()
      }
      this.end()
    } catch (error) {
      this.#ended ??= { error }
      this.#changed()
    }
  }

  /** The next bytes; undefined at their end. @throws as the stream does */
  async take(): Promise<{ readonly bytes: Uint8Array; readonly rows: number } | undefined> {
    while (this.#pieces.length === 0 && !this.#ended) await this.#change.promise
    const piece = this.#pieces.shift()
    if (!piece) {
      if (this.#ended && 'error' in this.#ended) throw this.#ended.error
      return undefined
    }
    const { rows, length, at } = piece
    const isInMemory = typeof at !== 'number'
    const bytes = isInMemory ? at : await this.#read(at, length)
    if (isInMemory) this.#inMemory -= length
    this.#changed()
    return { bytes, rows }
  }

  end(): void {
    this.#ended ??= {}
    this.#changed()
  }

  async remove(): Promise<void> {
    this.#spools.room += this.#written
    this.#written = 0
    await this.#file?.close()
    if (this.#file) await rm(this.#path, { force: true })
  }

  #changed(): void {
    this.#change.resolve()
    this.#change = Promise.withResolvers<void>()
  }

  /** Gives where the bytes are in the file; undefined if there is no room. */
  async #write(bytes: Uint8Array): Promise<number | undefined> {
    const { length } = bytes
    if (length > this.#spools.room) return undefined
    this.#spools.room -= length
    this.#unread += length
    const position = this.#written
    this.#written += length
    try {
      this.#file ??= await open(this.#path, 'wx+', 0o600)
      await writeAt(this.#file, bytes, position)
      return position
    } catch {
      // The disk is full, say. What waits is in memory then, as without room.
      this.#unread -= length
      return undefined
    }
  }

  async #read(position: number, length: number): Promise<Uint8Array> {
    const { buffer, bytesRead } = await this.#file!.read(Buffer.allocUnsafeSlow(length), { position })
    if (bytesRead < length) throw new Error('a temporary file is shorter than it was')
    this.#unread -= length
    if (this.#unread === 0) {
      this.#spools.room += this.#written
      this.#written = 0
    }
    return buffer
  }
}
