import { statSync } from 'node:fs'
import { sep } from 'node:path'
import { isInBucket, type Part } from '../../catalog/records.ts'
import { EngineError } from '../../errors.ts'
import type { Problem } from '../objects/folder.ts'
import { CHANGED, GONE } from '../objects/part-store.ts'

/** The size of a file, and when it was last changed, in nanoseconds since 1970. @throws the system's error */
export function stateOf(file: string): { readonly bytes: number; readonly changed: string } {
  const { size, mtimeNs } = statSync(file, { bigint: true })
  return { bytes: Number(size), changed: String(mtimeNs) }
}

/**
 * How a file differs from what was attached, in words that come after its name; undefined where it doesn't. Objects are
 * compared when they are fetched.
 * @param attachable the folders in which files may be read
 */
export function changeOf(file: string, part: Part, attachable: readonly string[]): Problem {
  const { bytes, attached } = part
  const path = isInBucket(part) ? `${attached!.folder}/${attached!.name}` : file
  if (!attachable.some((folder) => path.startsWith(/[\\/]$/.test(folder) ? folder : folder + sep)))
    return 'is below none of the folders that the setting attachable of this server names'
  if (isInBucket(part)) return undefined
  try {
    const now = stateOf(file)
    if (now.bytes !== bytes) return `has ${now.bytes} bytes, and had ${bytes} when it was attached`
    return now.changed === attached!.changed ? undefined : CHANGED
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? GONE : `can't be read (${code})`
  }
}

/** The error that an attached file is not as it was. */
export function fileChanged({ id, attached }: Part, problem: string, cause?: unknown): EngineError {
  return new EngineError(
    'file_changed',
    `The file ${JSON.stringify(attached!.name)} of this dataset ${problem}. The operator can put it back, or attach ` +
      'the files again as they are now.',
    { cause, details: { part: id } },
  )
}
