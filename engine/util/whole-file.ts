import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'

/**
 * Writes a file, which appears under its name only when it is whole. Gives its size.
 * @param written called with each piece that is in the file
 */
export async function writeWhole(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  written?: (piece: Uint8Array) => void,
): Promise<number> {
  const unfinished = `${path}.${randomUUID()}.part`
  let bytes = 0
  try {
    await using file = await open(unfinished, 'wx')
    for await (const piece of pieces) {
      await file.writeFile(piece)
      bytes += piece.byteLength
      written?.(piece)
    }
    await file.close()
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
  return bytes
}
