import { statSync } from 'node:fs'
import type { Command } from 'commander'
import { uploadFormatOf } from '../../engine/index.ts'
import { FORMATS_IN_PROSE, foreignNamed, hasDialect } from '../../engine/ingest/upload-format.ts'
import { ADDING, CHANGE, fromPlain, UPLOADING } from '../../engine/options.ts'
import { counted } from '../../engine/util/counted.ts'
import { filesAt, importAll, nameIn } from './import-files.ts'
import { startProgress } from './progress.ts'
import {
  findOrMake,
  findRepository,
  type ImportedFile,
  orRemoved,
  type Tables,
  type Written,
} from './tables/tables.ts'
import { abortOnInterrupt, addOptions, flags, inRows, shellWord, UsageError, withFlags } from './usage.ts'
import type { On } from './workplace.ts'

interface ImportOptions {
  readonly repository: string
  readonly dataset?: string
  readonly union?: boolean
  readonly append?: boolean
  readonly upsert?: boolean
  readonly format?: string
  readonly fileColumn?: string
  readonly fileName?: string
}

/** How a file is read, and by which columns an upsert finds rows. */
export const OPTIONS = { ...UPLOADING, on: ADDING.on }

const KNOWN = `${FORMATS_IN_PROSE}, also compressed as .gz or .zst`

export function addImportCommand(program: Command, on: On<Tables>): void {
  const command = program
    .command('import <path>')
    .description(
      'import the rows of a file into a dataset, which is created if needed; - reads standard input. Each file of a ' +
        'folder, or of a quoted pattern with *, ? and **, becomes a dataset that is named as it, or all one with --union',
    )
    .requiredOption('--repository <id or name>', 'the repository')
    .option('--dataset <name>', 'the name of the dataset, for one file and for --union')
    .option('--union', 'put the rows of all files into one dataset, which must agree in their columns')
    .option('--append', 'append the rows instead of replacing the existing ones')
    .option('--upsert', 'append the rows, which take the place of rows with the same key')
    .option(
      '--format <format>',
      'the format, if the file name does not show it: for example csv or ndjson.gz',
    )
    .action((path: string, options: ImportOptions) => on((tables) => importPath(tables, path, options)))
  addOptions(command, { ...OPTIONS, ...CHANGE })
}

async function importPath(tables: Tables, path: string, options: ImportOptions): Promise<void> {
  const { dataset, union = false } = options
  if (options.append && options.upsert) throw new UsageError('--append and --upsert exclude each other.')
  const files = filesAt(path)
  const named = (file: string) =>
    options.fileColumn !== undefined && file !== '-' ? { fileName: nameIn(path, file), ...options } : options
  if (files === undefined) {
    if (union) throw new UsageError('--union is for a folder or a pattern; to add one file, use --append.')
    if (dataset === undefined) throw new UsageError('--dataset names the dataset of the file.')
    return importFile(tables, path, { ...named(path), dataset })
  }
  if (union !== (dataset !== undefined)) {
    throw new UsageError(
      union
        ? '--dataset names the dataset of --union.'
        : 'Each file becomes a dataset that is named as it: leave out --dataset, or add --union.',
    )
  }
  await findRepository(tables, options.repository)
  await importAll(await files(), (file, name, stored) => {
    const turn = union && stored > 0 ? 'next' : 'first'
    return importFile(tables, file, { ...named(file), dataset: dataset ?? name }, turn)
  })
}

/** @param turn of several files; the rows of the `next` ones join those of the first, which replaces what there was */
export async function importFile(
  tables: Tables,
  file: string,
  options: ImportOptions & { readonly dataset: string },
  turn?: 'first' | 'next',
): Promise<void> {
  const { dataset: name, append, upsert, format, union } = options
  const given = fromPlain(options, UPLOADING)
  const { columns, ...others } = given
  const mode = upsert ? 'upsert' : append || turn === 'next' ? 'append' : 'replace'
  const isOdd = columns !== undefined && (columns === 'replace') !== (mode === 'replace')
  if (isOdd && !union) {
    const other =
      mode === 'replace'
        ? '--columns add is for --append and --upsert.'
        : `--columns replace is not for --${mode}; --columns add adds columns.`
    throw new UsageError(other)
  }
  // The first file of a union brings its columns, to which the others may add.
  const reading: typeof given = isOdd ? others : given
  const { on } = fromPlain(options, { on: ADDING.on })
  const { note } = fromPlain(options, CHANGE)
  if (on && mode !== 'upsert') throw new UsageError('--on is only for --upsert.')
  const named = sourceOf(file, format)
  const isChosen = hasDialect(named.format)
  const { id: repositoryId, name: home } = await findRepository(tables, options.repository)
  const { id, known } = await findOrMake(tables, repositoryId, name)
  // Where an earlier upload was read in some way, this one is read so, too.
  const isRead =
    known && reading.columns !== 'replace' && (await tables.datasets.get(id)).uploadOptions !== undefined
  const source = {
    ...named,
    options: { ...(isChosen && !isRead && { dialect: 'auto' as const }), ...reading },
  }
  const total = 'file' in source.from ? source.from.bytes : undefined
  using stop = abortOnInterrupt()
  await orRemoved(tables, { id, known }, async () => {
    using progress = startProgress('import', total)
    const written = await tables.write(id, mode, source, {
      on,
      note,
      signal: stop.signal,
      onProgress: ({ bytes, rows }) => {
        if (rows !== undefined) progress.note(inRows(rows))
        progress.bytes(bytes, total === undefined ? undefined : Math.max(bytes, total))
      },
    })
    progress[Symbol.dispose]()
    const which = turn === undefined ? '' : `${file}: `
    console.log(
      `${which}dataset ${written.id}: ${inRows(written.rowCount ?? 0)}, ${counted(written.columns.length, 'column')}, version ${written.version}`,
    )
    for (const line of findings(written, reading)) console.error(line)
    if (known?.rowCount && mode === 'replace') {
      const before = `parquetry restore ${shellWord(`${home}/${name}`)} ${written.version - 1}`
      console.error(`replaced ${inRows(known.rowCount)}; ${before} brings them back`)
    }
  })
}

/** What of a file may have been read without being asked for, in words. */
const CONTENTS = [
  ['entry', 'file'],
  ['sheet', 'sheet'],
  ['table', 'table'],
] as const

/** How many rows at the end of a file may be its totals and notes. */
const MOST_FOOTER_ROWS = 20

/** With which options a file was read, and which columns are text because of values that may mean something else. */
function findings(
  { options = {}, why = [], columns, rowCount, warnings = [], hints, ...found }: Written,
  given: object,
): string[] {
  const added = Object.entries(options).filter(([name]) => name !== 'dialect' && !(name in given))
  const chosen = added.map(([name, value]) => `--${name} ${shellWord(value)}`)
  const read = CONTENTS.flatMap(([option, what]) => {
    const name = found[option]
    return name === undefined || option in given ? [] : [`read the ${what} ${JSON.stringify(name)}`]
  })
  const texts = columns.flatMap(({ name, because }) => {
    if (because?.try === undefined && because?.above === undefined) return []
    const { row, value, above, try: better, or } = because
    const isNearEnd = row > (rowCount ?? 0) - MOST_FOOTER_ROWS
    const footer = isNearEnd
      ? '. If the rows at the end hold totals or notes, leave them out with --footer'
      : ''
    const values = above === undefined ? '' : `; the values above it are of type ${above}${footer}`
    const either = or === undefined ? '' : ` or ${flags(or)}`
    const reading = better === undefined ? '' : `; ${flags(better)}${either} may read it`
    return [`${name} is text because of ${JSON.stringify(value)} in row ${row}${values}${reading}.`]
  })
  const reasons = why.map(({ option, row, value }) => {
    const where = row === 0 ? '' : ` in row ${row}`
    return `  --${option} because of ${JSON.stringify(value)}${where}`
  })
  return [
    ...read,
    ...(chosen.length > 0 ? [`read with ${chosen.join(' ')}`] : []),
    ...reasons,
    ...texts,
    ...(warnings.length > 0 ? [withFlags(warnings.join('\n'), hints)] : []),
  ]
}

function sourceOf(file: string, format: string | undefined): Omit<ImportedFile, 'options'> {
  const kind = uploadFormatOf(format === undefined ? file : `x.${format}`)
  if (!kind && format !== undefined) {
    throw new UsageError(`${JSON.stringify(format)} is not a format; valid formats: ${KNOWN}.`)
  }
  if (file === '-') {
    if (!kind)
      throw new UsageError('Standard input has no file name: give its format, for example --format csv.')
    return { from: process.stdin, ...kind }
  }
  if (!kind) {
    const foreign = foreignNamed(file)
    throw new UsageError(
      foreign
        ? `${file}: ${foreign}.`
        : `${file}: the file name shows no known format (${KNOWN}). Give it with --format.`,
    )
  }
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) throw new UsageError(`There is no file ${file}.`)
  if (stats.isDirectory()) throw new UsageError(`${file} is a folder; name a file in it.`)
  return { from: { file, bytes: stats.size }, ...kind }
}
