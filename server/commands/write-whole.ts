import { getSystemErrorMessage } from 'node:util'
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

/** What is wrong with a path, where the system's own words don't say it. */
const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EEXIST: 'it is a file, not a folder',
  EISDIR: 'it is a folder',
}

/** Describes a system error without the path and system call that Node's message contains. */
export function fileProblem({ code = '', errno, message }: NodeJS.ErrnoException): string {
  return PROBLEMS[code] ?? (errno === undefined ? message : getSystemErrorMessage(errno))
}
