import { createHash, type Hash } from 'node:crypto'
import { statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'

/** The most files that are remembered. More take no more memory; they are only read again. */
const MOST = 100_000

interface Known {
  readonly hash: string
  /** Of the file when it was read. */
  readonly stamp: string
}

/** The hashes of files that this process has read, as long as their size and the time of their last change stay. */
export class FileHashes {
  // With `max` it would make room for all of them at once, which takes ten milliseconds of each start.
  readonly #known = new LRUCache<string, Known>({ maxSize: MOST, sizeCalculation: () => 1 })

  /** Reads a file and gives the hash of its bytes. */
  async read(file: string, options?: HashOptions): Promise<string> {
    const stamp = stampOf(file)
    const hash = await hashFile(file, options)
    if (stamp !== undefined) this.#known.set(file, { hash, stamp })
    return hash
  }

  /** The hash of a file, undefined if it was not read or has changed since. */
  known(file: string): string | undefined {
    const known = this.#known.get(file)
    return known && known.stamp === stampOf(file) ? known.hash : undefined
  }

  /** Remembers the hash of a file whose bytes were read under another name. */
  remember(file: string, hash: string): void {
    const stamp = stampOf(file)
    if (stamp !== undefined) this.#known.set(file, { hash, stamp })
  }
}

function stampOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat && `${stat.ino} ${stat.size} ${stat.mtimeMs}`
}

/**
 * Of the strong hashes that node:crypto has, BLAKE2b is the fastest on processors without instructions for SHA: 490 to
 * 570 MiB/s of one core where SHA-256 makes 230 to 350.
 */
const ALGORITHM = 'blake2b512'
/** Bytes that are read and hashed in one step. It takes half a millisecond of the thread that also answers requests. */
const PIECE = 256 * 1024

export interface HashOptions {
  readonly signal?: AbortSignal
  /** The most bytes read in a second. */
  readonly bytesPerSecond?: number
  /** Gets the same bytes, for sums of its own. */
  readonly alsoTo?: { update(bytes: Uint8Array): void } | undefined
}

/** The hash of a file's bytes, in the form that is stored in the catalog. */
export function hashFile(file: string, options: HashOptions = {}): Promise<string> {
  return hashOf(pieces(file), options)
}

/** The hash of bytes from any source. Each piece is hashed before the next is requested, so pieces may share memory. */
export async function hashOf(bytes: AsyncIterable<Uint8Array>, options: HashOptions = {}): Promise<string> {
  const { signal, bytesPerSecond = Number.POSITIVE_INFINITY, alsoTo } = options
  const hash = createHash(ALGORITHM)
  signal?.throwIfAborted()
  for await (const piece of bytes) {
    hash.update(piece)
    alsoTo?.update(piece)
    const pause = (piece.byteLength / bytesPerSecond) * 1_000
    if (pause >= 1) await wait(pause, undefined, { signal, ref: false })
    signal?.throwIfAborted()
  }
  return `${ALGORITHM}:${hash.digest('base64url')}`
}

/** The bytes of a file in pieces, which all use the same memory one after the other. */
async function* pieces(file: string): AsyncGenerator<Uint8Array, void, undefined> {
  const buffer = Buffer.allocUnsafe(PIECE)
  await using handle = await open(file, 'r')
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, PIECE, null)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

/** The last block of a part may be shorter. */
export const BLOCK_BYTES = 256 * 1024
/** A part of 128 MiB has 8 KiB of sums. 128 bits are enough that nobody finds other bytes with the same sum. */
const SUM_BYTES = 16

/** Computes the sums of the blocks of a part from its bytes in order. */
export class SummedBlocks {
  readonly #sums: Buffer[] = []
  #hash: Hash | undefined
  #free = 0

  update(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.byteLength; ) {
      this.#hash ??= this.#begin()
      const end = Math.min(at + this.#free, bytes.byteLength)
      this.#hash.update(bytes.subarray(at, end))
      this.#free -= end - at
      at = end
      if (this.#free === 0) this.#end()
    }
  }

  /** The sums of all blocks, in the form that is stored in the catalog. */
  sums(): string {
    this.#end()
    return Buffer.concat(this.#sums).toString('base64url')
  }

  #begin(): Hash {
    this.#free = BLOCK_BYTES
    return createHash(ALGORITHM)
  }

  #end(): void {
    if (this.#hash) this.#sums.push(this.#hash.digest().subarray(0, SUM_BYTES))
    this.#hash = undefined
  }
}

/** The sums of a part's blocks, as the catalog has them. */
export class BlockSums {
  readonly #sums: Buffer

  constructor(text: string) {
    this.#sums = Buffer.from(text, 'base64url')
  }

  get blocks(): number {
    return this.#sums.byteLength / SUM_BYTES
  }

  /** Whether these are the bytes of the block at an index, from 0. */
  matches(index: number, bytes: Uint8Array): boolean {
    const sum = createHash(ALGORITHM).update(bytes).digest().subarray(0, SUM_BYTES)
    return sum.equals(this.#sums.subarray(index * SUM_BYTES, (index + 1) * SUM_BYTES))
  }
}
