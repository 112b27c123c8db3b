import { createHash, type Hash } from 'node:crypto'
import { ALGORITHM } from './hash.ts'

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
