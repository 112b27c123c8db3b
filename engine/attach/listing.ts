import { existsSync, realpathSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { EngineError, invalidOption } from '../errors.ts'
import { stateOf } from '../store/integrity/attached.ts'
import { isBelow } from '../store/layout.ts'

/** A file that may be attached, as it is now. */
export interface ListedFile {
  /** Its path below the folder. */
  readonly name: string
  readonly bytes: number
  /** As `AttachedFile` has it. */
  readonly changed: string
}

/** Files that are attached: those with the ending .parquet below a folder, or those whose paths match a pattern. */
export interface AttachedFolder {
  /** Absolute, without links; or `s3://bucket/prefix`. */
  readonly folder: string
  /**
   * The files, sorted by their paths. Names that begin with `.` or `_` are left out: programs that write data put such
   * files beside it, as `_SUCCESS`.
   * @throws EngineError `invalid_file` if there are none, or the folder can't be read
   */
  list(): Promise<readonly ListedFile[]>
  /**
   * A file on this machine that has at least the footer of one of them, until it is disposed.
   * @throws EngineError `invalid_file` if it has changed
   */
  open(file: ListedFile, signal: AbortSignal | undefined): Promise<OpenFile>
}

/** Where a file is until it is disposed. */
export interface OpenFile extends AsyncDisposable {
  readonly path: string
}

export const PATTERN = /[*?]/

/**
 * What a path means: a folder, a file, or a pattern.
 * @param attachable folders of which one must have it
 * @throws EngineError `invalid_file`, `invalid_option`
 */
export function attachedFolder(path: string, attachable: readonly string[]): AttachedFolder {
  const segments = resolve(path).split(sep)
  const first = segments.findIndex((segment) => PATTERN.test(segment))
  const start = first < 0 ? segments.join(sep) : segments.slice(0, first).join(sep) || sep
  if (!existsSync(start)) throw new EngineError('invalid_file', `There is no file or folder ${start}.`)
  const real = realpathSync(start)
  const isFile = !statSync(real).isDirectory()
  const folder = isFile ? dirname(real) : real
  requireAttachable(folder, attachable, isBelow)
  if (/[[\]{}]/.test(folder))
    throw invalidOption(`The path of attached files must not hold any of [ ] { }: ${folder}`)
  const given = isFile ? relative(folder, real) : segments.slice(first).join('/')
  const pattern = first < 0 && !isFile ? undefined : given
  return {
    folder,
    list: async () => {
      const names = sorted(await namesIn(folder, matching(pattern)), folder, pattern)
      return names.map((name) => ({ name, ...stateOf(join(folder, name)) }))
    },
    open: async ({ name }) => ({ path: join(folder, name), [Symbol.asyncDispose]: async () => {} }),
  }
}

/** @throws EngineError `invalid_option` */
export function requireAttachable(
  folder: string,
  attachable: readonly string[],
  isIn: (folder: string, attachable: string) => boolean,
): void {
  if (attachable.some((one) => isIn(folder, one))) return
  const allowed = attachable.length === 0 ? 'there are none yet' : `they are ${attachable.join(', ')}`
  throw invalidOption(
    `${folder} is not below a folder whose files may be attached; ${allowed}. Name it with the setting attachable ` +
      '(PARQUETRY_ATTACHABLE), for this command and for the server.',
  )
}

async function namesIn(folder: string, matches: RegExp): Promise<string[]> {
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
  return found
}

/** @throws EngineError `invalid_file` if there are none */
export function sorted(names: readonly string[], folder: string, pattern: string | undefined): string[] {
  if (names.length > 0) return names.toSorted((a, b) => (a < b ? -1 : 1))
  throw new EngineError('invalid_file', `There is no file ${pattern ?? '*.parquet'} in ${folder}.`)
}

/** @param pattern with `*`, `?`, and `**` for folders; of paths below a folder */
export function matching(pattern: string | undefined): RegExp {
  return pattern === undefined ? /\.parquet$/i : expressionOf(pattern)
}

function expressionOf(pattern: string): RegExp {
  const parts = pattern.split(/(\*\*\/|\*|\?)/).map((part) => {
    if (part === '**/') return '(?:[^/]+/)*'
    return part === '*' ? '[^/]*' : part === '?' ? '[^/]' : part.replaceAll(/[\\^$.|+()[\]{}]/g, '\\$&')
  })
  return new RegExp(`^${parts.join('')}$`)
}
