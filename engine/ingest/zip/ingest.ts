import { stat } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Entry } from 'yauzl'
import type { Duck } from '../../duckdb/duck.ts'
import { EngineError, hint, invalidOption } from '../../errors.ts'
import { TemporaryFile } from '../../util/whole-file.ts'
import { readStart, spool, unpack, unpackingTo } from '../file.ts'
import { rewriteParts } from '../parts/parts.ts'
import type { IngestResult, ReadRequest, UploadOptions } from '../request.ts'
import { malformed, quoteValue, type UploadFault, withDetails } from '../text/errors.ts'
import {
  BINARY_BYTES,
  binaryFormat,
  guessedFormat,
  hasDialect,
  tablesAmong,
  type UploadFormat,
  uploadFormatOf,
} from '../upload-format.ts'
import { ZipReader } from './zip-reader.ts'

/** So many bytes show the format of an entry whose name does not. */
const HEAD_BYTES = 4096
/** How many entries an error lists. */
const MOST_LISTED = 1_000

type Ingest = (duck: Duck, request: ReadRequest) => Promise<IngestResult>

/** How many tables are read as one; each takes some milliseconds and a file until all are. */
const MOST_AT_ONCE = 5_000

/** The value of `entry` that means all tables of an archive. */
const ALL = '*'

/**
 * Reads the table in a zip archive, the entry that `entry` names, or the only one; or a file compressed with gzip or zstd.
 * It is unpacked and read as any other upload of its format.
 * @param ingest reads that upload
 * @throws EngineError `invalid_upload`, which lists the `entries` where there are several
 */
export async function ingestZip(duck: Duck, request: ReadRequest, ingest: Ingest): Promise<IngestResult> {
  const requested = request.options?.entry
  const binary = binaryFormat(await readStart(request.file, BINARY_BYTES))
  await using unpacked = new TemporaryFile(duck.tempDirectory)
  if (binary === 'gzip' || binary === 'zstd') {
    if (requested !== undefined)
      throw malformed('The file is no archive of several: leave entry out.', { option: 'entry' })
    await unpack(request, unpacked.path)
    return await ingestFile(duck, request, { path: unpacked.path, entry: '' }, ingest)
  }
  await using zip = await ZipReader.open(request.file, request.limits.unpackedBytes, 'archive')
  const entries = tablesIn(zip.entries)
  if (requested === ALL && entries.length > 0) {
    const read = withEntry(await ingestAll(duck, request, zip, entries, ingest), ALL)
    const pages = [...zip.entries.keys()].filter(
      (name) => !entries.includes(name) && uploadFormatOf(name)?.format === 'html',
    )
    const left = pages.map((name) => `The page ${quoteValue(name)} was left out.`)
    return { ...read, entries, ...(left.length > 0 && { warnings: [...(read.warnings ?? []), ...left] }) }
  }
  const entry = choose(zip.entries, entries, requested)
  await unpackEntry(request, zip, entry, unpacked.path)
  const result = await ingestFile(duck, request, { path: unpacked.path, entry }, ingest)
  return { ...withEntry(result, requested), entries, entry }
}

/** The same with `entry` among the options that were chosen, if it was given. */
function withEntry(result: IngestResult, entry: string | undefined): IngestResult {
  if (!result.options || entry === undefined) return result
  return { ...result, options: { ...result.options, entry } }
}

/** Reads all tables of an archive, one after the other: those behind the first by the columns that there are then. */
async function ingestAll(
  duck: Duck,
  request: ReadRequest,
  zip: ZipReader,
  entries: readonly string[],
  ingest: Ingest,
): Promise<IngestResult> {
  const { missing = 'error', signal, target } = request
  if (entries.length > MOST_AT_ONCE) {
    throw malformed(
      `The archive holds ${entries.length} tables, and at most ${MOST_AT_ONCE} are read as one. Send them in several archives.`,
    )
  }
  if (missing === 'keep')
    throw invalidOption(`An upsert of several files needs ${hint('missing=null')}.`, 'missing')
  const files: TemporaryFile[] = []
  await using _ = {
    [Symbol.asyncDispose]: async () => {
      for (const file of files) await file[Symbol.asyncDispose]()
    },
  }
  const temporary = () => {
    const file = new TemporaryFile(duck.tempDirectory)
    files.push(file)
    return file.path
  }
  const read: IngestResult[] = []
  const parts: string[] = []
  for (const entry of entries) {
    await using unpacked = new TemporaryFile(duck.tempDirectory)
    await unpackEntry(request, zip, entry, unpacked.path)
    const part = temporary()
    const existing = read.at(-1)?.columns ?? request.existing
    const one = { ...request, existing, missing, target: part }
    const result = await ingestFile(duck, one, { path: unpacked.path, entry }, ingest).catch((error) => {
      throw error instanceof EngineError
        ? inEntry(error, entry, request.existing || read.length === 0 ? '' : entries[0]!)
        : error
    })
    parts.push(part)
    read.push(result)
  }
  const { columns: to, options, why, format } = read.at(-1)!
  // Columns that a file has added are null in the rows of those before it.
  for (const [index, { columns: from }] of read.entries()) {
    if (from.length === to.length) continue
    const wider = temporary()
    await rewriteParts(duck, { parts: [parts[index]!], target: wider, from, to }, { signal })
    parts[index] = wider
  }
  const written = await rewriteParts(duck, { parts, target, from: to, to }, { signal })
  const isSame = read.every((one) => isDeepStrictEqual(one.options, options))
  return {
    ...written,
    columns: to,
    format,
    reasons: to.map((_, index) => read.find(({ reasons }) => reasons?.[index])?.reasons?.[index]),
    ...(isSame && options && { options, why }),
    warnings: read.flatMap(({ warnings = [] }, index) => warnings.map((one) => `${entries[index]}: ${one}`)),
  }
}

/**
 * The error of an entry, which names it, as each of its faults does.
 * @param first the entry by which the columns are, if it is another
 */
function inEntry(error: EngineError, entry: string, first: string): EngineError {
  const named = (text: string) => `${quoteValue(entry)}: ${text}`
  const { message, details } = error.marked
  const { errors } = (details ?? {}) as { readonly errors?: readonly UploadFault[] }
  const faults = errors?.map((fault) => ({ ...fault, error: named(fault.error) }))
  const types = first && ` The columns are those of ${quoteValue(first)}, unless they are declared before.`
  return withDetails(error, faults ? { errors: faults } : {}, named(message) + types)
}

/** Reads what was unpacked as an upload of its own. */
async function ingestFile(
  duck: Duck,
  request: ReadRequest,
  { path, entry }: { readonly path: string; readonly entry: string },
  ingest: Ingest,
): Promise<IngestResult> {
  const { onProgress, fileColumn } = request
  const { entry: _, ...others } = request.options ?? {}
  const { format, gzip } = guessedFormat(await readStart(path, HEAD_BYTES), entry)
  if (format === 'zip')
    throw malformed(
      `${entry === '' ? 'What it holds' : quoteValue(entry)} is packed itself: unpack the outer file.`,
    )
  const { size: bytes } = await stat(request.file)
  return ingest(duck, {
    ...request,
    ...{ file: path, format, gzip, options: optionsFor(format, others) },
    fileColumn: fileColumn && { ...fileColumn, name: entry || fileColumn.name },
    onProgress: ({ rows }) => onProgress?.({ bytes, rows }),
  })
}

/** Those of the archive without `dialect` where the entry's format has none. */
function optionsFor(format: UploadFormat, { dialect, ...others }: UploadOptions): UploadOptions {
  return { ...others, ...(dialect !== undefined && hasDialect(format) && { dialect }) }
}

async function unpackEntry(
  { limits, signal }: ReadRequest,
  zip: ZipReader,
  name: string,
  target: string,
): Promise<void> {
  const entry = zip.entries.get(name)!
  await spool(zip.read(entry), target, { ...unpackingTo(limits.unpackedBytes, entry.compressedSize), signal })
}

/** The files that may be tables; where none is, all files. */
function tablesIn(all: ReadonlyMap<string, Entry>): readonly string[] {
  const files = [...all.keys()].filter((name) => !/\/$|(?:^|\/)(?:__MACOSX\/|\.)/.test(name))
  const tables = tablesAmong(files)
  return tables.length > 0 ? tables : files
}

/** The name of the entry to read. */
function choose(
  all: ReadonlyMap<string, Entry>,
  tables: readonly string[],
  requested: string | undefined,
): string {
  const wanted = requested ?? (tables.length === 1 ? tables[0]! : '')
  if (all.has(wanted)) return wanted
  if (tables.length === 0) throw malformed('The archive holds no file.')
  const entries = tables.slice(0, MOST_LISTED)
  const names = entries.slice(0, 20).map(quoteValue).join(', ')
  const more = tables.length > 20 ? ` and ${tables.length - 20} more` : ''
  throw malformed(
    requested === undefined
      ? `The archive holds several tables: name one of ${names}${more} with ${hint('entry=')}, or read all of them with ${hint('entry=*')}.`
      : `The archive has no file ${quoteValue(requested)}; it has ${names}${more}.`,
    { option: 'entry', entries },
  )
}
