import { statSync } from 'node:fs'
import type { Command } from 'commander'
import { uploadFormatOf } from '../../engine/index.ts'
import { type GivenOptions, REPLACE_OPTIONS } from '../transfers/upload-options.ts'
import { startProgress } from './progress.ts'
import { abortOnInterrupt } from './stop.ts'
import { findRepository } from './tables/find-by-name.ts'
import { orRemoved } from './tables/or-removed.ts'
import type { Source, Tables } from './tables/tables.ts'
import { oneOf, UsageError } from './usage.ts'

interface ImportOptions extends GivenOptions {
  readonly repository: string
  readonly dataset: string
  readonly append?: boolean
  readonly format?: string
}

const KNOWN = 'csv, tsv, json, ndjson, parquet, arrow, xlsx, and text formats compressed as .gz'

/** `parquetry import FILE --repository R --dataset NAME`. */
export function addImportCommand(
  program: Command,
  on: (work: (tables: Tables) => unknown) => Promise<void>,
): void {
  const command = program
    .command('import <file>')
    .description(
      'import the rows of a file into a dataset, which is created if needed; - reads standard input',
    )
    .requiredOption('--repository <id or name>', 'the repository')
    .requiredOption('--dataset <name>', 'the name of the dataset')
    .option('--append', 'append the rows instead of replacing the existing ones')
    .option(
      '--format <format>',
      'the format, if the file name does not show it: for example csv or ndjson.gz',
    )
    .action((file: string, options: ImportOptions) => on((tables) => importFile(tables, file, options)))
  for (const [name, { description, ...schema }] of Object.entries(REPLACE_OPTIONS)) {
    const words = 'enum' in schema ? schema.enum : undefined
    command.option(
      `--${name} <${words?.join('|') ?? 'text'}>`,
      description.replaceAll('`', '').replace(/\.$/, ''),
      (text) => (words ? oneOf(`--${name}`, words, text) : text),
    )
  }
}

async function importFile(tables: Tables, file: string, options: ImportOptions): Promise<void> {
  const { repository, dataset: name, append, format, ...manner } = options
  if (append && manner.columns)
    throw new UsageError('--columns is not for --append, which keeps the columns.')
  const source = { ...sourceOf(file, format), manner }
  const { id: repositoryId } = await findRepository(tables, repository)
  const known = (await tables.datasets()).find(
    (one) => one.repositoryId === repositoryId && one.name === name,
  )
  const { id } = known ?? (await tables.createDataset({ repositoryId, name }))
  const total = 'file' in source.from ? source.from.bytes : undefined
  using stop = abortOnInterrupt()
  await orRemoved(tables, { id, isNew: !known }, async () => {
    using progress = startProgress('import', total)
    const written = await tables.write(id, append ? 'append' : 'replace', source, {
      signal: stop.signal,
      onProgress: ({ bytes, rows }) => {
        if (rows !== undefined) progress.note(`${rows.toLocaleString('en')} rows`)
        progress.bytes(bytes, total === undefined ? undefined : Math.max(bytes, total))
      },
    })
    progress[Symbol.dispose]()
    console.log(
      `dataset ${written.id}: ${written.rowCount} rows, ${written.columns.length} columns, version ${written.version}`,
    )
  })
}

function sourceOf(file: string, format: string | undefined): Omit<Source, 'manner'> {
  const kind = uploadFormatOf(format === undefined ? file : `x.${format}`)
  if (!kind && format !== undefined) {
    throw new UsageError(`${JSON.stringify(format)} is not a format; known are ${KNOWN}.`)
  }
  if (file === '-') {
    if (!kind)
      throw new UsageError('Standard input has no file name: give its format, for example --format csv.')
    return { from: process.stdin, ...kind }
  }
  if (!kind) {
    throw new UsageError(`${file}: the file name shows no known format (${KNOWN}). Give it with --format.`)
  }
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) throw new UsageError(`There is no file ${file}.`)
  if (stats.isDirectory()) throw new UsageError(`${file} is a folder; name a file in it.`)
  return { from: { file, bytes: stats.size }, ...kind }
}
