import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { FORMATS, type Format } from '../../engine/index.ts'
import { FORMAT_FACTS } from '../transfers/formats.ts'
import { startProgress } from './progress.ts'
import { abortOnInterrupt } from './stop.ts'
import { findDataset } from './tables/find-by-name.ts'
import type { Asked, Manner, Tables } from './tables/tables.ts'
import { oneOf, UsageError, wholeNumber } from './usage.ts'
import { writeWhole } from './write-whole.ts'

interface ExportOptions extends Asked, Manner {
  readonly format?: Format
  readonly output?: string
}

function isText(format: Format): boolean {
  return /^text\/|json/.test(FORMAT_FACTS[format].contentType)
}

/** `parquetry export DATASET`. */
export function addExportCommand(
  program: Command,
  on: (work: (tables: Tables) => unknown) => Promise<void>,
): void {
  program
    .command('export <dataset>')
    .description('write the rows of a dataset, named by its id or as repository/dataset')
    .option(
      '-o, --output <file>',
      'a file, which appears when it is complete, and whose extension is the format; - is standard output',
    )
    .option('--format <format>', `${FORMATS.join(', ')} (default: by the file name, or csv)`, (text) =>
      oneOf('--format', FORMATS, text),
    )
    .option('--filter <expression>', 'an OData $filter')
    .option('--apply <transformations>', 'an OData $apply: groups, sums and the like')
    .option('--compute <columns>', 'calculated columns, for example: price mul 2 as double')
    .option('--search <words>', 'words to find in text columns')
    .option('--select <columns>', 'columns, separated by commas')
    .option('--orderby <keys>', 'columns or expressions to sort by, each with asc or desc')
    .option('--skip <rows>', 'number of rows to skip at the start', (text) => wholeNumber('--skip', text))
    .option('--top <rows>', 'the most rows to write, from the start', (text) => wholeNumber('--top', text))
    .option('--last <rows>', 'the most rows to write, from the end', (text) => wholeNumber('--last', text))
    .option('--bom', 'csv, tsv: begin with a byte order mark, by which Excel recognizes UTF-8')
    .option('--delimiter <sign>', 'csv: the character between fields, or tab', (text) =>
      text === 'tab' ? '\t' : text,
    )
    .option('--decimal <sign>', 'csv, tsv: the decimal separator', (text) =>
      oneOf('--decimal', ['.', ','] as const, text),
    )
    .option('--null <text>', 'csv, tsv: the text for null')
    .option(
      '--formulas <what>',
      'csv, tsv: escape keeps spreadsheets from running texts as formulas',
      (text) => oneOf('--formulas', ['escape'] as const, text),
    )
    .option('--overlong <what>', 'xlsx: cut shortens texts that are too long for a cell', (text) =>
      oneOf('--overlong', ['cut'] as const, text),
    )
    .action((dataset: string, options: ExportOptions) => on((tables) => exportRows(tables, dataset, options)))
}

async function exportRows(tables: Tables, name: string, options: ExportOptions): Promise<void> {
  const { format: chosen, output: given, ...asked } = options
  const output = given === '-' ? undefined : given
  const format = chosen ?? formatOf(output)
  const toScreen = output === undefined && process.stdout.isTTY
  if (toScreen && !isText(format)) {
    throw new UsageError(`${format} is not text; name a file with -o, or pipe it.`)
  }
  const dataset = await findDataset(tables, name)
  using stop = abortOnInterrupt()
  const chunks = tables.read(dataset.id, format, asked, stop.signal)
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
