import { existsSync, realpathSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { EngineError, invalidOption } from '../errors.ts'
import { isBelow } from '../store/layout.ts'

/** Files that are attached: those with the ending .parquet below a folder, or those whose paths match a pattern. */
export interface AttachedFolder {
  /** Absolute, without links. */
  readonly folder: string
  /** With `*`, `?`, and `**` for folders; of paths below the folder. */
  readonly pattern?: string
}

const PATTERN = /[*?]/

/**
 * What a path means: a folder, a file, or a pattern.
 * @param attachable folders of which one must have it
 * @throws EngineError `invalid_file`, `invalid_option`
 */
export function attachedFolder(path: string, attachable: readonly string[]): AttachedFolder {
  if (/^\w+:\/\//.test(path)) {
    throw invalidOption(
      `Only files of this machine can be attached: mount what ${path} names, and attach that folder.`,
    )
  }
  const segments = resolve(path).split(sep)
  const first = segments.findIndex((segment) => PATTERN.test(segment))
  const given = first < 0 ? segments.join(sep) : segments.slice(0, first).join(sep) || sep
  if (!existsSync(given)) throw new EngineError('invalid_file', `There is no file or folder ${given}.`)
  const real = realpathSync(given)
  const isFile = !statSync(real).isDirectory()
  const folder = isFile ? dirname(real) : real
  if (!attachable.some((one) => isBelow(folder, one))) {
    const allowed = attachable.length === 0 ? 'there are none yet' : `they are ${attachable.join(', ')}`
    throw invalidOption(
      `${folder} is not below a folder whose files may be attached; ${allowed}. Name it with the setting attachable ` +
        '(PARQUETRY_ATTACHABLE), for this command and for the server.',
    )
  }
  if (/[[\]{}]/.test(folder))
    throw invalidOption(`The path of attached files must not hold any of [ ] { }: ${folder}`)
  const pattern = isFile ? relative(folder, real) : segments.slice(first).join('/')
  return first < 0 && !isFile ? { folder } : { folder, pattern }
}

/**
 * The paths of the files below the folder, sorted. Names that begin with `.` or `_` are left out: programs that write
 * data put such files beside it, as `_SUCCESS`.
 * @throws EngineError `invalid_file` if there are none, or the folder can't be read
 */
export async function listAttached({ folder, pattern }: AttachedFolder): Promise<string[]> {
  const matches = pattern === undefined ? /\.parquet$/i : expressionOf(pattern)
  const found: string[] = []
  const read = async (below: string): Promise<void> => {
    const entries = await readdir(join(folder, below), { withFileTypes: true }).catch((cause) => {
      throw new EngineError(
        'invalid_file',
        `The folder ${join(folder, below)} can't be read (${cause.code}).`,
        { cause },
      )
    })
    for (const entry of entries) {
      if (/^[._]/.test(entry.name)) continue
      const name = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory()) await read(name)
      else if (matches.test(name)) found.push(name)
      else continue
      if (!entry.isSymbolicLink() && !/[*?[\]{}]/.test(name)) continue
      throw new EngineError(
        'invalid_file',
        `${name} is a link, or its path has one of * ? [ ] { }, so it can't be attached.`,
      )
    }
  }
  await read('')
  if (found.length > 0) return found.sort((a, b) => (a < b ? -1 : 1))
  const what = pattern === undefined ? '*.parquet' : pattern
  throw new EngineError('invalid_file', `There is no file ${what} in ${folder}.`)
}

function expressionOf(pattern: string): RegExp {
  const parts = pattern.split(/(\*\*\/|\*|\?)/).map((part) => {
    if (part === '**/') return '(?:[^/]+/)*'
    return part === '*' ? '[^/]*' : part === '?' ? '[^/]' : part.replaceAll(/[\\^$.|+()[\]{}]/g, '\\$&')
  })
  return new RegExp(`^${parts.join('')}$`)
}
