import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { ByteStream } from '../../../engine/index.ts'
import { SingleFlight } from '../../../engine/util/in-flight.ts'

/** How long a file is kept after its last use. */
const KEPT_MS = 5 * 60_000
const MOST_FILES = 1_000
const READ_BYTES = 256 * 1024

/** The bytes of an answer, which are those of the stream and the text around them. */
export interface Written {
  readonly bytes: AsyncIterable<Uint8Array>
  readonly stream: ByteStream
  /** How many rows match, if they were counted. */
  readonly matches: number | undefined
}

export type Save = (written: Written) => Promise<ExportFile | undefined>

/** All bytes of an export in a temporary file, which is removed when nobody uses it any more. */
export class ExportFile implements AsyncDisposable {
  readonly id = randomUUID()
  readonly bytes: number
  readonly rows: number
  readonly matches: number | undefined
  readonly #file: FileHandle
  readonly #remove: () => Promise<void>
  #users = 1

  constructor(file: FileHandle, bytes: number, { stream, matches }: Written, remove: () => Promise<void>) {
    this.#file = file
    this.bytes = bytes
    this.rows = stream.rows()
    this.matches = matches
    this.#remove = remove
  }

  /** Keeps the file for one more user, who disposes it; false if it has been removed. */
  hold(): boolean {
    if (this.#users === 0) return false
    this.#users += 1
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#users -= 1
    if (this.#users === 0) await this.#remove()
  }

  /** Bytes `from` (inclusive) to `to` (exclusive). */
  async *read(from: number, to: number): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = from; at < to; ) {
      const length = Math.min(READ_BYTES, to - at)
      const { buffer, bytesRead } = await this.#file.read(Buffer.allocUnsafeSlow(length), { position: at })
      if (bytesRead === 0) throw new Error('a temporary file is shorter than it was')
      at += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  }
}

/**
 * Writes exports to temporary files, for clients that read them in pieces or resume them. Each is written once for all
 * who ask for it, and removed some minutes after its last use, or earlier if others need the room.
 */
export class ExportFiles {
  readonly #directory: string
  readonly #most: number
  #bytes = 0
  readonly #writing = new SingleFlight<ExportFile | undefined>()
  readonly #tooLarge = new LRUCache<string, true>({ max: MOST_FILES, ttl: KEPT_MS })
  readonly #kept = new LRUCache<string, ExportFile>({
    max: MOST_FILES,
    ttl: KEPT_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (file) => void file[Symbol.asyncDispose](),
  })

  /** @param most the most bytes of all files together; 0 makes none */
  constructor(directory: string, most: number) {
    this.#directory = directory
    this.#most = most
  }

  has(tag: string): boolean {
    return this.#kept.has(tag)
  }

  /**
   * Gives the file of an entity tag, held for the caller, who disposes it; undefined if it is too large, or not written
   * in time. It is then not tried again for some minutes.
   * @param make produces the bytes and saves them, unless there is such a file or another caller has it made already
   * @param patience the most milliseconds for making it
   */
  async get(
    tag: string,
    make: (signal: AbortSignal, save: Save) => Promise<ExportFile | undefined>,
    patience: number,
    signal: AbortSignal,
  ): Promise<ExportFile | undefined> {
    if (this.#most === 0 || this.#tooLarge.has(tag)) return undefined
    const once = async (abandoned: AbortSignal) => {
      const late = AbortSignal.timeout(patience)
      const file = await make(AbortSignal.any([abandoned, late]), (written) => this.#save(written)).catch(
        (error: NodeJS.ErrnoException) => {
          if (late.aborted || error.code === 'ENOSPC') return undefined
          throw error
        },
      )
      if (file) this.#kept.set(tag, file)
      else this.#tooLarge.set(tag, true)
      return file
    }
    for (;;) {
      const file = this.#kept.get(tag) ?? (await this.#writing.run(tag, once, signal))
      if (!file || file.hold()) return file
    }
  }

  clear(): void {
    this.#kept.clear()
  }

  /** Writes a file; gives undefined if there is no room for it. */
  async #save(written: Written): Promise<ExportFile | undefined> {
    const path = join(this.#directory, `export-${randomUUID()}`)
    const file = await open(path, 'wx+', 0o600)
    let bytes = 0
    const remove = async () => {
      this.#bytes -= bytes
      await file.close()
      await rm(path, { force: true })
    }
    try {
      for await (const piece of written.bytes) {
        bytes += piece.byteLength
        this.#bytes += piece.byteLength
        while (this.#bytes > this.#most && this.#kept.size > 0) {
          this.#kept.pop()
          await setImmediate()
        }
        if (this.#bytes > this.#most) {
          await remove()
          return undefined
        }
        await file.appendFile(piece)
        written.stream.recycle(piece)
      }
      return new ExportFile(file, bytes, written, remove)
    } catch (error) {
      await remove()
      throw error
    }
  }
}
