import { statSync } from 'node:fs'
import { sep } from 'node:path'
import type { Part } from '../../catalog/records.ts'
import { EngineError } from '../../errors.ts'
import { footerOf } from '../../parquet/parquet-file.ts'
import type { Problem } from '../objects/folder.ts'
import { type HashOptions, hashOf } from './hashes.ts'

/** The size of a file, and when it was last changed, in nanoseconds since 1970. @throws the system's error */
export function stateOf(file: string): { readonly bytes: number; readonly changed: string } {
  const { size, mtimeNs } = statSync(file, { bigint: true })
  return { bytes: Number(size), changed: String(mtimeNs) }
}

/**
 * How a file differs from what was attached, in words that come after its name; undefined where it doesn't.
 * @param attachable the folders in which files may be read
 */
export function changeOf(file: string, { bytes, attached }: Part, attachable: readonly string[]): Problem {
  if (!attachable.some((folder) => file.startsWith(folder.endsWith(sep) ? folder : folder + sep)))
    return 'is below none of the folders that the setting attachable of this server names'
  try {
    const now = stateOf(file)
    if (now.bytes !== bytes) return `has ${now.bytes} bytes, and had ${bytes} when it was attached`
    return now.changed === attached!.changed ? undefined : 'was changed since it was attached'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'is missing' : `can't be read (${code})`
  }
}

export const OTHER_FOOTER = 'has another footer than when it was attached'

/**
 * The hash of a file's footer, which has the place and the bounds of all pages. Hashing the rows as well would take
 * minutes for files that people keep because they are large.
 */
export async function hashFooter(file: string, options?: HashOptions): Promise<string> {
  const { footer } = await footerOf(file)
  return hashOf(
    (async function* () {
      yield footer
    })(),
    options,
  )
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
