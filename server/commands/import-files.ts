import { existsSync, statSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { tablesAmong } from '../../engine/ingest/upload-format.ts'
import { counted } from '../../engine/util/counted.ts'
import { reportError } from './report.ts'
import { abortOnInterrupt, Failed, UsageError } from './usage.ts'

/**
 * Lists the paths of the files of a folder whose names show a format, or of all that match a pattern, sorted; undefined for
 * the path of one file. Names that begin with `.` or `_` are left out: programs that write data put such files beside
 * it, as `_SUCCESS`. It throws a UsageError if there are none.
 */
export function filesAt(path: string): (() => Promise<readonly string[]>) | undefined {
  const isThere = existsSync(path)
  if (isThere && statSync(path).isDirectory()) return () => listed('**/*', path)
  return !isThere && /[*?]/.test(path) ? () => listed(path) : undefined
}

/** The name of a file, from the folder on that was named, or that a pattern begins with. */
export function nameIn(path: string, file: string): string {
  const folder = existsSync(path) ? path : path.replace(/[^/\\]*[*?].*$/s, '')
  return relative(folder, file).replaceAll('\\', '/') || basename(file)
}

async function listed(pattern: string, folder?: string): Promise<readonly string[]> {
  const all = await Array.fromAsync(glob(pattern, { cwd: folder ?? '.' }))
  const files = all
    .filter(
      (path) =>
        !(folder === undefined ? basename(path) : path).split(/[/\\]/).some((part) => /^[._]/.test(part)),
    )
    .map((path) => join(folder ?? '', path))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
    .sort()
  const found = folder === undefined ? files : tablesAmong(files)
  if (found.length === 0) {
    throw new UsageError(
      folder === undefined
        ? `There is no file ${pattern}.`
        : `There is no file of a known format in ${folder}.`,
    )
  }
  const others = files.length - found.length
  if (others > 0) console.error(`left out ${counted(others, 'file')} whose names show no table`)
  return found
}

/**
 * Imports files one after the other. One that is refused does not keep the others back; at the end a line says how many
 * are stored.
 * @param work gets the path, a name for its dataset, and how many files were stored before
 * @throws Failed if a file is refused
 */
export async function importAll(
  files: readonly string[],
  work: (file: string, name: string, stored: number) => Promise<void>,
): Promise<void> {
  const names = namesOf(files)
  using stop = abortOnInterrupt()
  let stored = 0
  for (const [at, file] of files.entries()) {
    try {
      await work(file, names[at]!, stored)
      stored++
    } catch (error) {
      if (stop.signal.aborted) throw new Failed(`Stopped; ${counted(stored, 'file')} stored before.`)
      reportError(error, file)
    }
  }
  const refused = files.length - stored
  console.log(
    `${counted(stored, 'file')} stored${refused > 0 ? `, ${counted(refused, 'file')} refused` : ''}`,
  )
  if (refused > 0) throw new Failed()
}

/** Names for datasets: those of the files without endings, or as much more as tells the files apart. */
function namesOf(files: readonly string[]): readonly string[] {
  const whole = files.map((file) => basename(file))
  const short = whole.map((name) => name.replace(/\.(gz|zst)$/i, '').replace(/\.[^.]+$/, ''))
  return [short, whole, files].find((names) => new Set(names).size === files.length) ?? files
}
