import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { footerOf } from '../../parquet/parquet-file.ts'

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

  /**
   * Reads a file and gives the hash of its bytes, or of what `hashOf` hashes.
   * @param isOthers whether others may change the file, and set the time of that
   */
  async read(file: string, options?: FileHashOptions, hashOf = hashFile, isOthers = false): Promise<string> {
    const stamp = stampOf(file, isOthers)
    const hash = await hashOf(file, options)
    if (stamp !== undefined) this.#known.set(file, { hash, stamp })
    return hash
  }

  /**
   * The hash of a file, undefined if it was not read or has changed since.
   * @param isOthers whether others may change the file, and set the time of that
   */
  known(file: string, isOthers = false): string | undefined {
    const known = this.#known.get(file)
    return known && known.stamp === stampOf(file, isOthers) ? known.hash : undefined
  }

  /** Remembers the hash of a file whose bytes were read under another name. */
  remember(file: string, hash: string): void {
    const stamp = stampOf(file)
    if (stamp !== undefined) this.#known.set(file, { hash, stamp })
  }
}

function stampOf(file: string, isOthers = false): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false })
  // Nobody can set the time of the last change of any kind, but each link to a file of our own is one.
  return stat && `${stat.ino} ${stat.size} ${stat.mtimeMs}${isOthers ? ` ${stat.ctimeMs}` : ''}`
}

/**
 * Of the strong hashes that node:crypto has, BLAKE2b is the fastest on processors without instructions for SHA: 490 to
 * 570 MiB/s of one core where SHA-256 makes 230 to 350.
 */
const ALGORITHM = 'blake2b512'
/**
 * The blocks of a part; the last one may be shorter. So many bytes are read and hashed in one step, which takes half a
 * millisecond of the thread that also answers requests.
 */
export const BLOCK_BYTES = 256 * 1024

export interface HashOptions {
  readonly signal?: AbortSignal
  /** The most bytes read in a second. */
  readonly bytesPerSecond?: number
}

export interface FileHashOptions extends HashOptions {
  /** Gets the blocks of the file, too. */
  readonly blocks?: BlockSums | undefined
}

/** The hash of a file's bytes, in the form that is stored in the catalog. */
export function hashFile(file: string, options: FileHashOptions = {}): Promise<string> {
  return hashOf(blocksOf(file, options.blocks), options)
}

/**
 * The hash of the footer of a file that others wrote, which has the place and the bounds of all pages. Hashing the rows
 * as well would take minutes for files that people keep because they are large.
 * @throws RangeError where there is no footer
 */
export async function hashFooter(file: string, options?: HashOptions): Promise<string> {
  const { footer } = await footerOf(file)
  return hashOf(
    (async function* () {
      yield footer
    })(),
    options,
  )
}

/** The hash of bytes from any source. Each piece is hashed before the next is requested, so pieces may share memory. */
export async function hashOf(bytes: AsyncIterable<Uint8Array>, options: HashOptions = {}): Promise<string> {
  const { signal, bytesPerSecond = Number.POSITIVE_INFINITY } = options
  const hash = createHash(ALGORITHM)
  signal?.throwIfAborted()
  for await (const piece of bytes) {
    hash.update(piece)
    const pause = (piece.byteLength / bytesPerSecond) * 1_000
    if (pause >= 1) await wait(pause, undefined, { signal, ref: false })
    signal?.throwIfAborted()
  }
  return `${ALGORITHM}:${hash.digest('base64url')}`
}

/** The blocks of a file, which all use the same memory one after the other. */
async function* blocksOf(file: string, summed?: BlockSums): AsyncGenerator<Uint8Array, void, undefined> {
  // A small file is read in this thread: in libuv's pool each step would wait for a core behind the statements there.
  if (statSync(file).size <= BLOCK_BYTES) {
    const block = readFileSync(file)
    summed?.add(block)
    yield block
    return
  }
  const buffer = Buffer.allocUnsafe(BLOCK_BYTES)
  await using handle = await open(file, 'r')
  for (;;) {
    let filled = 0
    // A read may give fewer bytes than there are.
    for (let read = -1; read !== 0 && filled < BLOCK_BYTES; filled += read) {
      read = (await handle.read(buffer, filled, BLOCK_BYTES - filled, null)).bytesRead
    }
    if (filled === 0) return
    const block = buffer.subarray(0, filled)
    summed?.add(block)
    yield block
  }
}

/** A part of 128 MiB has 8 KiB of sums. 128 bits are enough that nobody finds other bytes with the same sum. */
const SUM_BYTES = 16

function sumOf(block: Uint8Array): Buffer {
  return createHash(ALGORITHM).update(block).digest().subarray(0, SUM_BYTES)
}

/** The sums of a part's blocks, in their order. */
export class BlockSums {
  #sums: Buffer

  /** @param text as the catalog has them; without it, they are still to be added */
  constructor(text = '') {
    this.#sums = Buffer.from(text, 'base64url')
  }

  add(block: Uint8Array): void {
    this.#sums = Buffer.concat([this.#sums, sumOf(block)])
  }

  /** Takes the bytes of the block at an index for right from now on. */
  set(index: number, bytes: Uint8Array): void {
    const missing = (index + 1) * SUM_BYTES - this.#sums.length
    if (missing > 0) this.#sums = Buffer.concat([this.#sums, Buffer.alloc(missing)])
    this.#sums.set(sumOf(bytes), index * SUM_BYTES)
  }

  /** In the form that is stored in the catalog. */
  text(): string {
    return this.#sums.toString('base64url')
  }

  /** Whether these are the bytes of the block at an index, from 0. */
  matches(index: number, bytes: Uint8Array): boolean {
    return sumOf(bytes).equals(this.#sums.subarray(index * SUM_BYTES, (index + 1) * SUM_BYTES))
  }
}
