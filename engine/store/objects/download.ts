import { mkdirSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Semaphore } from '../../util/semaphore.ts'
import { hashFile } from '../integrity/hash.ts'

export interface Download {
  readonly name: string
  readonly bytes: number
  readonly hash: string | null
  /** Where the whole file is to be. */
  readonly to: string
  /** What it is called until then. */
  readonly unfinished: string
  readonly get: (name: string, from: number, to: number, signal: AbortSignal) => Promise<Uint8Array>
  readonly signal: AbortSignal
}

/** What one request asks for; a few at once fill a line whose answers take their time to begin. */
const RANGE_BYTES = 8 * 2 ** 20
/** Requests under way, of all downloads; each has a range in memory. */
const AT_ONCE = new Semaphore(8)
/** Bytes that are wrong may have been changed on their way, so they are asked for a second time. */
const TRIES = 2

/** The bytes of an object are not those that the catalog knows. */
export class WrongBytes extends Error {
  override readonly name = 'WrongBytes'
  readonly object: string

  constructor(object: string) {
    super(`the bytes of ${object} are not those that were written`)
    this.object = object
  }
}

/**
 * Brings an object into a file, by ranges. The file appears when all of it is there, is what was written, and would
 * survive a power cut; where something fails, nothing is left.
 * @throws WrongBytes, and what `get` throws
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
      await writeAll(handle, await get(name, from, Math.min(from + RANGE_BYTES, bytes), ending), from)
    } catch (error) {
      failed.abort(error)
      throw error
    }
  })
  // Nothing may be written any more when the file is closed, so all are waited for.
  const failure = (await Promise.allSettled(ranges)).find((range) => range.status === 'rejected')
  if (failure) throw signal.aborted ? signal.reason : (failed.signal.reason ?? failure.reason)
  await handle.sync()
}

async function writeAll(handle: FileHandle, data: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < data.byteLength; ) {
    done += (await handle.write(data, done, data.byteLength - done, position + done)).bytesWritten
  }
}
