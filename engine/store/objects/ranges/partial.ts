import { closeSync, constants, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { Semaphore } from '../../../util/semaphore.ts'
import { readHere } from '../../../util/whole-file.ts'
import { BLOCK_BYTES, type BlockSums } from '../../integrity/hashes.ts'
import { blocksName, type Cacheable, type ObjectCache, WrongBytes } from '../cache.ts'

/** The most blocks of one request. Longer ranges are fetched by several requests at once. */
const MOST_BLOCKS = 8
/** The most requests at once, over all objects. */
const AT_ONCE = new Semaphore(16)
/** How often blocks are fetched in all. Wrong bytes may come from the transfer, so they are fetched a second time. */
const TRIES = 2

/**
 * If more of an object than this was read by ranges, the same ones counted each time, all of it is fetched, and whoever
 * needs a block that is not here waits for that.
 */
const WHOLE_FROM = 1 / 4

/** What all objects have in common of which blocks are read. */
export interface BlocksContext {
  readonly cache: ObjectCache
  /** How many blocks were wanted and are here, and how many are not. */
  readonly counts: { hits: number; misses: number }
  /** Ends fetching whole objects. */
  readonly closing: AbortSignal
}

/**
 * An object of which some blocks are on this disk. Every block is compared with its sum whenever it is given to a
 * reader, so it makes no difference what has happened to the file: what is not right there is fetched again.
 *
 * Files are read and written in this thread, a few hundred kilobytes at a time: every thread of libuv's pool may be
 * waiting in DuckDB for these bytes.
 */
export class PartialObject {
  /** Who reads it now. */
  readonly readers = new Set<{ fail(error: unknown): void }>()
  /** Settles when all of it has been fetched; undefined if nobody fetches it. */
  completing: Promise<void> | undefined
  readonly #object: Cacheable
  readonly #sums: BlockSums
  readonly #context: BlocksContext
  readonly #here = new Set<number>()
  readonly #coming = new Map<number, Promise<Uint8Array>>()
  #bytesHere = 0
  /** Bytes of it that were read by ranges. */
  #bytesRead = 0
  #fetching = new AbortController()

  constructor(object: Cacheable, sums: BlockSums, context: BlocksContext) {
    this.#object = object
    this.#sums = sums
    this.#context = context
  }

  get name(): string {
    return this.#object.name
  }

  get bytes(): number {
    return this.#object.bytes
  }

  /**
   * Reads bytes `from` (inclusive) to `to` (exclusive), all of them compared with the sums. Readers are told if it fails.
   * @throws WrongBytes, the errors of `ObjectCache.get`
   */
  async read(from: number, to: number): Promise<Uint8Array> {
    try {
      return await this.#read(from, to)
    } catch (error) {
      for (const reader of this.readers) reader.fail(error)
      throw error
    }
  }

  async #read(from: number, to: number): Promise<Uint8Array> {
    const whole = this.#fromWhole(from, to)
    if (whole) return whole
    this.#bytesRead += to - from
    if (this.#bytesRead > this.bytes * WHOLE_FROM) this.#complete()
    const first = Math.floor(from / BLOCK_BYTES)
    const end = Math.ceil(to / BLOCK_BYTES)
    const blocks: (Uint8Array | Promise<Uint8Array>)[] = []
    for (let index = first; index < end; index++) {
      const here = this.#coming.get(index) ?? this.#onDisk(index)
      if (here) {
        this.#context.counts.hits += 1
        blocks.push(here)
        continue
      }
      if (this.completing) {
        await this.completing
        const bytes = this.#fromWhole(from, to)
        if (bytes) return bytes
      }
      let until = index + 1
      while (until < end && until - index < MOST_BLOCKS && this.#isMissing(until)) until += 1
      this.#context.counts.misses += until - index
      blocks.push(...this.#fetch(index, until))
      index = until - 1
    }
    const all = Buffer.concat(await Promise.all(blocks))
    return all.subarray(from - first * BLOCK_BYTES, to - first * BLOCK_BYTES)
  }

  /** Ends the requests under way, because nobody waits for them any more. */
  giveUp(): void {
    this.#fetching.abort()
    this.#fetching = new AbortController()
    this.#coming.clear()
  }

  /** Fetches the whole object in the background. Who needs it later tries again if that fails. */
  #complete(): void {
    if (this.completing || this.#context.closing.aborted) return
    this.completing = this.#context.cache
      .pin([this.#object], this.#context.closing)
      .then((pin) => {
        pin[Symbol.dispose]()
        this.#bytesRead = 0
        this.#context.cache.drop(blocksName(this.name))
      })
      .catch(() => {})
      .finally(() => {
        this.completing = undefined
      })
  }

  /** The file of the blocks that are here, each at its place in the object. */
  get #file(): string {
    return this.#context.cache.file(blocksName(this.name))
  }

  #fromWhole(from: number, to: number): Uint8Array | undefined {
    const file = this.#context.cache.wholeFile(this.#object)
    return file === undefined ? undefined : readAt(file, from, to)
  }

  #isMissing(index: number): boolean {
    return !this.#here.has(index) && !this.#coming.has(index)
  }

  #onDisk(index: number): Uint8Array | undefined {
    if (!this.#here.has(index)) return undefined
    const bytes = readAt(this.#file, index * BLOCK_BYTES, this.#endOf(index))
    if (bytes && this.#sums.matches(index, bytes)) return bytes
    // The file was removed to make room, or somebody has changed it.
    this.#here.delete(index)
    this.#bytesHere -= this.#endOf(index) - index * BLOCK_BYTES
    return undefined
  }

  /** Fetches the blocks `from` (inclusive) to `to` (exclusive) by one request. */
  #fetch(from: number, to: number): Promise<Uint8Array>[] {
    const { signal } = this.#fetching
    const fetched = this.#fetchRight(from, to, signal)
    return Array.from({ length: to - from }, (_, offset) => {
      const index = from + offset
      const block = fetched
        .then((bytes) => bytes.subarray(offset * BLOCK_BYTES, (offset + 1) * BLOCK_BYTES))
        .finally(() => {
          if (this.#coming.get(index) === block) this.#coming.delete(index)
        })
      block.catch(() => {})
      this.#coming.set(index, block)
      return block
    })
  }

  async #fetchRight(from: number, to: number, signal: AbortSignal): Promise<Uint8Array> {
    const { name } = this
    using _ = await AT_ONCE.enter()
    for (let tries = 1; ; tries++) {
      signal.throwIfAborted()
      const bytes = await this.#context.cache.get(
        this.#object,
        from * BLOCK_BYTES,
        this.#endOf(to - 1),
        signal,
      )
      if (this.#areRight(from, to, bytes)) {
        this.#keep(from, to, bytes)
        return bytes
      }
      if (tries === TRIES) throw new WrongBytes(name)
    }
  }

  #areRight(from: number, to: number, bytes: Uint8Array): boolean {
    for (let index = from; index < to; index++) {
      const block = bytes.subarray((index - from) * BLOCK_BYTES, (index - from + 1) * BLOCK_BYTES)
      // The store has compared the tag of an object of others, whose sums nobody knows before.
      if (this.#object.attached) this.#sums.set(index, block)
      else if (!this.#sums.matches(index, block)) return false
    }
    return true
  }

  /** Writes blocks to the disk. If that is not possible, they are only not there for the next reader. */
  #keep(from: number, to: number, bytes: Uint8Array): void {
    try {
      writeAt(this.#file, bytes, from * BLOCK_BYTES)
    } catch {
      return
    }
    for (let index = from; index < to; index++) this.#here.add(index)
    this.#bytesHere += bytes.byteLength
    this.#context.cache.grow(blocksName(this.name), this.#bytesHere)
  }

  #endOf(index: number): number {
    return Math.min((index + 1) * BLOCK_BYTES, this.bytes)
  }
}

function readAt(file: string, from: number, to: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafeSlow(to - from)
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, 'r')
    return readHere(descriptor, bytes, from) ? bytes : undefined
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

function writeAt(file: string, bytes: Uint8Array, position: number): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const descriptor = openSync(file, constants.O_WRONLY | constants.O_CREAT, 0o600)
  try {
    for (let done = 0; done < bytes.byteLength; ) {
      done += writeSync(descriptor, bytes, done, bytes.byteLength - done, position + done)
    }
  } finally {
    closeSync(descriptor)
  }
}
