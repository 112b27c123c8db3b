import { stat } from 'node:fs/promises'
import type { Entry } from 'yauzl'
import type { Duck } from '../../duckdb/duck.ts'
import { hint } from '../../errors.ts'
import { TemporaryFile } from '../../util/whole-file.ts'
import { readStart, spool, unpack, unpackingTo } from '../file.ts'
import { checkUploadOptions, type IngestResult, type ReadRequest, type UploadOptions } from '../request.ts'
import { malformed, quoteValue } from '../text/errors.ts'
import {
  BINARY_BYTES,
  binaryFormat,
  guessedFormat,
  hasDialect,
  type UploadFormat,
  uploadFormatOf,
} from '../upload-format.ts'
import { ZipReader } from './zip-reader.ts'

/** So many bytes show the format of an entry whose name does not. */
const HEAD_BYTES = 4096
/** How many entries an error lists. */
const MOST_LISTED = 1_000

/**
 * Reads the table in a zip archive, the entry that `entry` names, or the only one; or a file compressed with gzip or zstd. It is unpacked and read as any other
 * upload of its format.
 * @param ingest reads that upload
 * @throws EngineError `invalid_upload`, which lists the `entries` where there are several
 */
export async function ingestZip(
  duck: Duck,
  request: ReadRequest,
  ingest: (duck: Duck, request: ReadRequest) => Promise<IngestResult>,
): Promise<IngestResult> {
  const { entry: requested, ...others } = request.options ?? {}
  await using unpacked = new TemporaryFile(duck.tempDirectory)
  const { entries, entry } = await unpackEntry(request, requested, unpacked.path)
  const { format, gzip } = guessedFormat(await readStart(unpacked.path, HEAD_BYTES), entry)
  if (format === 'zip')
    throw malformed(
      `${entry === '' ? 'What it holds' : quoteValue(entry)} is packed itself: unpack the outer file.`,
    )
  const options = optionsFor(format, others)
  const { onProgress } = request
  const { size: bytes } = await stat(request.file)
  const result = await ingest(duck, {
    ...request,
    ...{ file: unpacked.path, format, gzip, options },
    onProgress: ({ rows }) => onProgress?.({ bytes, rows }),
  })
  const chosen = result.options && { ...result.options, ...(requested !== undefined && { entry: requested }) }
  return { ...result, ...(chosen && { options: chosen }), ...(entries && { entries, entry }) }
}

/** Those of the archive without `dialect` where the entry's format has none. @throws EngineError `invalid_option` */
function optionsFor(format: UploadFormat, { dialect, ...others }: UploadOptions): UploadOptions {
  const options = { ...others, ...(dialect !== undefined && hasDialect(format) && { dialect }) }
  checkUploadOptions(format, options)
  return options
}

async function unpackEntry(request: ReadRequest, requested: string | undefined, target: string) {
  const { file, limits, signal } = request
  const binary = binaryFormat(await readStart(file, BINARY_BYTES))
  if (binary === 'gzip' || binary === 'zstd') {
    if (requested !== undefined)
      throw malformed('The file is no archive of several: leave entry out.', { option: 'entry' })
    await unpack(request, target)
    return { entry: '' }
  }
  await using zip = await ZipReader.open(file, limits.unpackedBytes, 'archive')
  const entries = tablesIn(zip.entries)
  const entry = choose(zip.entries, entries, requested)
  const bounds = unpackingTo(limits.unpackedBytes, entry.compressedSize)
  await spool(zip.read(entry), target, { ...bounds, signal })
  return { entries, entry: entry.fileName }
}

/** The files of known formats; where there is none, all files. */
function tablesIn(all: ReadonlyMap<string, Entry>): readonly string[] {
  const files = [...all.keys()].filter((name) => !/\/$|(?:^|\/)(?:__MACOSX\/|\.)/.test(name))
  const known = files.filter((name) => uploadFormatOf(name) !== undefined)
  return known.length > 0 ? known : files
}

function choose(
  all: ReadonlyMap<string, Entry>,
  tables: readonly string[],
  requested: string | undefined,
): Entry {
  const found = all.get(requested ?? (tables.length === 1 ? tables[0]! : ''))
  if (found) return found
  if (tables.length === 0) throw malformed('The archive holds no file.')
  const entries = tables.slice(0, MOST_LISTED)
  const names = entries.slice(0, 20).map(quoteValue).join(', ')
  const more = tables.length > 20 ? ` and ${tables.length - 20} more` : ''
  throw malformed(
    requested === undefined
      ? `The archive holds several tables: name one of ${names}${more} with ${hint('entry=')}.`
      : `The archive has no file ${quoteValue(requested)}; it has ${names}${more}.`,
    { option: 'entry', entries },
  )
}
