import { createReadStream, mkdirSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { EngineError } from '../../errors.ts'
import { Semaphore } from '../../util/semaphore.ts'
import { writeAt } from '../../util/whole-file.ts'
import { hashFile } from '../integrity/hashes.ts'

export interface Download {
  readonly name: string
  readonly bytes: number
  readonly hash: string | null
  /** The path of the complete file. */
  readonly to: string
  /** The path of the file until it is complete. */
  readonly unfinished: string
  readonly get: (name: string, from: number, to: number, signal: AbortSignal) => Promise<Uint8Array>
  readonly signal: AbortSignal
}

/** Bytes of one request. Several requests at once use the whole bandwidth even if each answer is slow to begin. */
const RANGE_BYTES = 8 * 2 ** 20
/** The most requests at once, over all downloads. Each holds a range in memory. */
const AT_ONCE = new Semaphore(8)
/** How often an object is fetched in all. Wrong bytes may come from the transfer, so they are fetched a second time. */
const TRIES = 2

/** The error that the bytes of an object do not match the hash in the catalog. */
export class WrongBytes extends Error {
  override readonly name = 'WrongBytes'
  readonly object: string

  constructor(object: string) {
    super(`the bytes of ${object} are not those that were written`)
    this.object = object
  }
}

/**
 * Downloads an object into a file, in ranges. The file appears only when it is complete, checked and synced. If
 * something fails, nothing is left behind.
 * @throws WrongBytes, and the errors of `get`
 */
export async function download(what: Download): Promise<void> {
  const { name, hash, to, unfinished, signal } = what
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  try {
    for (let tries = 1; ; tries++) {
      await fill(what)
      if (hash === null || (await hashFile(unfinished, { signal })) === hash) break
      if (tries === TRIES) throw new WrongBytes(name)
    }
    await rename(unfinished, to)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

async function fill({ name, bytes, unfinished, get, signal }: Download): Promise<void> {
  await using handle = await open(unfinished, 'w', 0o600)
  const failed = new AbortController()
  const ending = AbortSignal.any([signal, failed.signal])
  const ranges = Array.from({ length: Math.ceil(bytes / RANGE_BYTES) }, async (_, index) => {
    using _place = await AT_ONCE.enter()
    ending.throwIfAborted()
    const from = index * RANGE_BYTES
    try {
      await writeAt(handle, await get(name, from, Math.min(from + RANGE_BYTES, bytes), ending), from)
    } catch (error) {
      failed.abort(error)
      throw error
    }
  })
  // Waits for all ranges even after a failure, because nothing may be written after the file is closed.
  const failure = (await Promise.allSettled(ranges)).find((range) => range.status === 'rejected')
  if (failure) throw signal.aborted ? signal.reason : (failed.signal.reason ?? failure.reason)
  await handle.sync()
}

const READ_BYTES = 256 << 10

/** Bytes `from` (inclusive) to `to` (exclusive) of a file. @throws EngineError `storage_damaged` if it is shorter */
export async function* fileBytes(
  file: string,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let left = to - from
  if (left <= 0) return
  const pieces = createReadStream(file, { start: from, end: to - 1, highWaterMark: READ_BYTES })
  for await (const piece of pieces as AsyncIterable<Uint8Array>) {
    left -= piece.byteLength
    yield piece
  }
  if (left > 0) throw new EngineError('storage_damaged', 'A part of the stored rows is cut off.')
}
