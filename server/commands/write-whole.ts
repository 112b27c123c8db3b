import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { UsageError } from './usage.ts'

/** Writes a file under a temporary name and renames it when it is complete. Returns its size in bytes. */
export async function writeWhole(path: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const unfinished = `${path}.${randomUUID()}.part`
  const file = await open(unfinished, 'wx').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${path} can't be written: ${fileProblem(error)}.`)
  })
  let bytes = 0
  try {
    try {
      for await (const chunk of chunks) {
        await file.writeFile(chunk)
        bytes += chunk.byteLength
      }
    } finally {
      await file.close()
    }
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
  return bytes
}

/** Describes a file system error without the path and system call that Node's message contains. */
export function fileProblem({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'ENOENT':
      return 'its folder does not exist'
    case 'ENOTDIR':
      return 'a part of its path is a file, not a folder'
    case 'EEXIST':
      return 'it is a file, not a folder'
    case 'EISDIR':
      return 'it is a folder'
    case 'EACCES':
    case 'EPERM':
      return 'you have no permission'
    case 'EROFS':
      return 'the file system is read only'
    case 'ENOSPC':
    case 'EDQUOT':
      return 'the disk is full'
    case 'ENAMETOOLONG':
      return 'its name is too long'
    default:
      return code ?? message
  }
}
