import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { FORMATS, type Format } from '../../engine/index.ts'
import { fromPlain, QUERY, VERSION, WRITING } from '../../engine/options.ts'
import { MEDIA_TYPES } from '../client/options.ts'
import { startProgress } from './progress.ts'
import { findDataset, findRepository, type Tables } from './tables/tables.ts'
import { abortOnInterrupt, addOptions, oneOf, readText, UsageError, writeWhole } from './usage.ts'
import type { On } from './workplace.ts'

/** The options of `parquetry export`, and those of `parquetry sql`. */
const ROWS = { ...QUERY, ...WRITING, ...VERSION }
const OF_SQL = { top: QUERY.top, skip: QUERY.skip, ...WRITING }

interface Given {
  readonly format?: Format
  readonly output?: string
}

interface StatementGiven extends Given {
  readonly file?: string
  readonly save?: string
  readonly repository?: string
}

export function addExportCommand(program: Command, on: On<Tables>): void {
  const command = program
    .command('export <dataset>')
    .description(
      'write the rows of a dataset, named by its id or as repository/dataset, with owner/ in front for one of others',
    )
    .action((name: string, options: Given) =>
      on(async (tables) => {
        const { id } = await findDataset(tables, name)
        const given = fromPlain(options, ROWS)
        await writeRows(options, (format, signal) => tables.read(id, format, given, signal))
      }),
    )
  addOutput(command)
  addOptions(command, ROWS)
}

export function addSqlCommand(program: Command, on: On<Tables>): void {
  const command = program
    .command('sql [statement]')
    .description(
      'write the rows of one SELECT over datasets, named as "repository"."dataset", or with the owner in front',
    )
    .option('-f, --file <file>', 'a file with the statement; - is standard input')
    .option('--save <name>', 'save the statement as a dataset, in place of writing its rows')
    .option('--repository <id or name>', 'the repository to save it in')
    .action((statement: string | undefined, options: StatementGiven) =>
      on(async (tables) => {
        if ((statement === undefined) === (options.file === undefined)) {
          throw new UsageError('Give a statement, or a file with it (-f).')
        }
        const text = statement ?? readText(options.file!)
        if (options.save !== undefined) return saveQuery(tables, text, options)
        const given = fromPlain(options, OF_SQL)
        await writeRows(options, (format, signal) => tables.sql(text, format, given, signal))
      }),
    )
  addOutput(command)
  addOptions(command, OF_SQL)
}

async function saveQuery(tables: Tables, sql: string, { save, repository }: StatementGiven): Promise<void> {
  if (repository === undefined) throw new UsageError('Say with --repository where to save it.')
  const { id: repositoryId, name: home } = await findRepository(tables, repository)
  const { id } = await tables.datasets.create({ name: save!, repositoryId, query: { sql } })
  console.log(`Saved as ${home}/${save} (dataset ${id}).`)
}

function addOutput(command: Command): void {
  command
    .option(
      '-o, --output <file>',
      'output file (the extension selects the format; written atomically); - for standard output',
    )
    .option('--format <format>', `${FORMATS.join(', ')} (default: by the file name, or csv)`, (text) =>
      oneOf('--format', FORMATS, text),
    )
}

async function writeRows(
  { format: chosen, output: given }: Given,
  read: (format: Format, signal: AbortSignal) => AsyncIterable<Uint8Array>,
): Promise<void> {
  const output = given === '-' ? undefined : given
  const format = chosen ?? formatOf(output)
  const toScreen = output === undefined && process.stdout.isTTY
  if (toScreen && !/^text\/|json/.test(MEDIA_TYPES[format])) {
    throw new UsageError(`${format} is not text; name a file with -o, or pipe it.`)
  }
  using stop = abortOnInterrupt()
  const chunks = read(format, stop.signal)
  // No progress bar when the rows themselves are printed on the terminal.
  using progress = toScreen ? undefined : startProgress('export', undefined)
  const counted = async function* () {
    let bytes = 0
    for await (const chunk of chunks) {
      bytes += chunk.byteLength
      progress?.bytes(bytes)
      yield chunk
    }
  }
  if (output !== undefined) {
    const bytes = await writeWhole(output, counted())
    progress?.[Symbol.dispose]()
    console.error(`${output}: ${bytes.toLocaleString('en')} bytes of ${format}`)
    return
  }
  try {
    await pipeline(Readable.from(counted()), process.stdout, { end: false })
  } catch (error) {
    // A reader such as `head` closes the pipe when it has enough; that is not an error.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}

/** The format for a file's extension; csv for standard output. @throws UsageError for an unknown extension */
function formatOf(output: string | undefined): Format {
  if (output === undefined) return 'csv'
  const ending = /\.([^./\\]+)$/.exec(output)?.[1]?.toLowerCase()
  const format = FORMATS.find((one) => one === ending)
  if (format) return format
  throw new UsageError(
    `${output}: the extension is not one of ${FORMATS.join(', ')}. Give the format with --format.`,
  )
}
