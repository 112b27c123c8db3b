import { randomUUID } from 'node:crypto'
import { readSync } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Writes a file, which appears under its name only when it is whole. What is there and no file, such as /dev/stdout or a
 * pipe, is written to. Gives the number of bytes.
 * @param written called with each piece that is in the file
 */
export async function writeWhole(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  written?: (piece: Uint8Array) => void,
): Promise<number> {
  const there = await stat(path).catch(() => undefined)
  const replaces = there === undefined || there.isFile() || there.isDirectory()
  const unfinished = replaces ? `${path}.${randomUUID()}.part` : path
  let bytes = 0
  try {
    await using file = await open(unfinished, replaces ? 'wx' : 'w')
    for await (const piece of pieces) {
      await file.writeFile(piece)
      bytes += piece.byteLength
      written?.(piece)
    }
    await file.close()
    if (replaces) await rename(unfinished, path)
  } catch (error) {
    if (replaces) await rm(unfinished, { force: true })
    throw error
  }
  return bytes
}

/** Writes bytes at a position; a write may take fewer bytes than it is given. */
export async function writeAt(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    done += (await handle.write(bytes, done, bytes.byteLength - done, position + done)).bytesWritten
  }
}

/** Fills a buffer from a file, in this thread; a read may give fewer bytes than there are. Gives whether it is full. */
export function readHere(descriptor: number, into: Buffer, from: number): boolean {
  for (let done = 0; done < into.length; ) {
    const read = readSync(descriptor, into, done, into.length - done, from + done)
    if (read === 0) return false
    done += read
  }
  return true
}

/** A path for a temporary file. When its scope ends, the file is deleted if it exists. */
export class TemporaryFile implements AsyncDisposable {
  readonly path: string

  constructor(directory: string) {
    this.path = join(directory, `ingest-${randomUUID()}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { force: true })
  }
}
