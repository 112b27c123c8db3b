import { statSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Engine, type Format, uploadFormatOf } from '../../engine/index.ts'
import { startProgress } from './progress.ts'
import { UsageError } from './usage.ts'

/** `parquetry import FILE --repository ID --dataset NAME [--append]`: makes the dataset where it isn't there. */
export async function importFile(
  engine: Engine,
  file: string,
  options: { repository: number; dataset: string; append: boolean },
): Promise<void> {
  const upload = uploadFormatOf(file)
  if (!upload) {
    throw new UsageError(
      `${file}: the ending tells the format; known are csv, tsv, json, ndjson, parquet and xlsx, and .gz of the text forms.`,
    )
  }
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size === undefined) throw new UsageError(`There is no file ${file}.`)
  engine.repository(options.repository)
  const known = engine
    .datasets({ repositoryId: options.repository })
    .find((one) => one.name === options.dataset)
  const { id } = known ?? engine.createDataset({ repositoryId: options.repository, name: options.dataset })
  const aborted = new AbortController()
  const abort = () => aborted.abort()
  process.once('SIGINT', abort)
  try {
    using progress = startProgress('import', size)
    const dataset = engine.dataset(id)
    const record = await dataset[options.append ? 'append' : 'replace']({
      body: { file },
      ...upload,
      signal: aborted.signal,
      onProgress: ({ bytes, rows }) => {
        if (rows !== undefined) progress.note(`${rows.toLocaleString('en')} rows`)
        progress.bytes(bytes, Math.max(bytes, size))
      },
    })
    console.log(
      `dataset ${record.id}: ${record.rowCount} rows, ${record.columns.length} columns, version ${record.version}`,
    )
  } catch (error) {
    // A dataset that was made for this import and got nothing is not left behind.
    if (!known) engine.deleteDataset(id)
    throw error
  } finally {
    process.off('SIGINT', abort)
  }
}

/** `parquetry export DATASET_ID [--format F] [--filter EXPR] [--top N] [--last N] [-o FILE]` */
export async function exportDataset(
  engine: Engine,
  id: number,
  options: { format: Format; filter?: string; top?: number; last?: number; output?: string },
): Promise<void> {
  const { format, output, ...query } = options
  using asked = engine.dataset(id).query(query)
  if (output !== undefined) {
    const { rows, bytes } = await asked.toFile(output, format)
    console.error(`${output}: ${rows} rows, ${bytes} bytes`)
    return
  }
  if (process.stdout.isTTY && (format === 'xlsx' || format === 'parquet' || format === 'arrow')) {
    throw new UsageError(`${format} is not text; name a file with -o, or pipe it.`)
  }
  const stream = await asked.bytes(format)
  using progress = startProgress('export', undefined)
  const counted = async function* () {
    let bytes = 0
    for await (const chunk of stream) {
      bytes += chunk.byteLength
      progress.note(`${stream.rows().toLocaleString('en')} rows`)
      progress.bytes(bytes)
      yield chunk
    }
  }
  try {
    await pipeline(Readable.from(counted()), process.stdout, { end: false })
  } catch (error) {
    // A reader like `head` closes the pipe when it has enough, which is no failure.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}
