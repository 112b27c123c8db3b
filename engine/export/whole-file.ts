import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import type { ByteStream } from './deliver.ts'

/** Writes a file, which appears under its name only when it is whole. Gives its size. */
export async function writeWhole(path: string, stream: ByteStream): Promise<number> {
  const unfinished = `${path}.${randomUUID()}.part`
  let bytes = 0
  try {
    await using file = await open(unfinished, 'wx')
    for await (const chunk of stream) {
      await file.writeFile(chunk)
      bytes += chunk.byteLength
      stream.recycle(chunk)
    }
    await file.close()
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
  return bytes
}
