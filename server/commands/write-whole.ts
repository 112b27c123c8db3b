import { writeWhole as write } from '../../engine/util/whole-file.ts'
import { UsageError } from './usage.ts'

/** Writes a file, which appears under its name only when it is whole. Gives its size. @throws UsageError if it can't be made */
export async function writeWhole(path: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  try {
    return await write(path, chunks)
  } catch (error) {
    const { syscall, path: opened } = error as NodeJS.ErrnoException
    // Rows that can't be read also fail to open, but not under this name.
    if (syscall !== 'open' || !opened?.startsWith(`${path}.`)) throw error
    throw new UsageError(`${path} can't be written: ${fileProblem(error as NodeJS.ErrnoException)}.`)
  }
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
