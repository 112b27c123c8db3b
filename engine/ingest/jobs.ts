import type { Duck } from '../duckdb/duck.ts'
import { EngineError } from '../errors.ts'
import { TemporaryFile } from '../util/whole-file.ts'
import { ingestCsv, ingestRewritten, type ToCsv } from './csv/ingest.ts'
import { unpack } from './file.ts'
import { formatOf } from './foreign.ts'
import { refuseLongTexts } from './parts/part.ts'
import {
  checkUploadOptions,
  type Hooks,
  holdsFor,
  type IngestRequest,
  type IngestResult,
  type ReadRequest,
  type UploadFormat,
} from './request.ts'
import { type KnownColumns, knownColumns } from './targets.ts'
import type { OpenBook } from './workbook/book.ts'

/**
 * What a reader process does (`process/main.ts`). Inputs and results are plain data. Its parent calls the same functions
 * through a proxy (`Ingestor.jobs`), and removes what a job that fails has written.
 */
export const JOBS = {
  ingest: ingestUpload,
  ingestMany: later(async () => (await import('./many.ts')).ingestMany),
  rewrite: later(async () => (await import('./parts/parts.ts')).rewriteParts),
  cut: later(async () => (await import('./parts/parts.ts')).cutPart),
  find: later(async () => (await import('./parts/parts.ts')).findRows),
  edit: later(async () => (await import('./parts/parts.ts')).editPart),
  fill: later(async () => (await import('./parts/fill.ts')).fillParts),
  repeated: later(async () => (await import('./parts/parts.ts')).findRepeated),
  compare: later(async () => (await import('./parts/parts.ts')).writeCompared),
  profile: later(async () => (await import('./profile.ts')).profileParts),
  verify: later(async () => (await import('./parts/parts.ts')).verifyPart),
}

type Job<Input, Result> = (duck: Duck, input: Input, hooks: Hooks) => Promise<Result>

/** A job whose code is loaded when it is needed: a reader that takes long to start would make its first upload wait. */
function later<Input, Result>(load: () => Promise<Job<Input, Result>>): Job<Input, Result> {
  return async (...given) => (await load())(...given)
}

export type JobName = keyof typeof JOBS
/** The same functions without their DuckDB, as other processes see them. */
export type Jobs = {
  readonly [Name in JobName]: (
    input: Parameters<(typeof JOBS)[Name]>[1],
    hooks?: Hooks,
  ) => ReturnType<(typeof JOBS)[Name]>
}
export type JobInput = Parameters<Jobs[JobName]>[0]

/**
 * Reads an upload and writes it as one part. The rows keep the order of the upload.
 * @throws EngineError `invalid_upload`, `column_conflict`, `upload_too_large`, `storage_full`, `cancelled` …
 */
async function ingestUpload(duck: Duck, request: IngestRequest, hooks: Hooks): Promise<IngestResult> {
  const result = await ingest(duck, { ...request, ...hooks }).catch((error: unknown) => {
    // Here DuckDB's memory limit is for this upload alone, so another attempt later would not get more.
    if (!(error instanceof EngineError && error.code === 'overloaded')) throw error
    throw new EngineError('upload_too_large', 'The upload needs more memory than one upload may take.', {
      cause: error,
    })
  })
  await refuseLongTexts(duck, request.target, result, hooks)
  return result
}

async function ingest(duck: Duck, packed: ReadRequest): Promise<IngestResult> {
  await using unpacked = new TemporaryFile(duck.tempDirectory)
  const given = packed.gzip ? await unpack(packed, unpacked.path) : packed
  const format = await formatOf(given)
  const read = (one: ReadRequest) =>
    READERS[format](duck, knownColumns(one, one.declared), { ...one, format })
  if (format === 'zip') return await read(given)
  const unused = (given.stored ?? []).filter((name) => !holdsFor(format, name, true))
  const used = Object.entries(given.options ?? {}).filter(([name]) => !unused.includes(name))
  const one = unused.length > 0 ? { ...given, options: Object.fromEntries(used) } : given
  checkUploadOptions(format, one.options, true)
  const result = given.fileColumn
    ? await (await import('./file-column.ts')).withFileColumn(duck, one, given.fileColumn, read)
    : await read(one)
  return { ...result, format }
}

type Reader = (duck: Duck, known: KnownColumns, request: ReadRequest) => Promise<IngestResult>

/** How each format is read. The code of most is loaded when it is needed: ndjson does not need the Arrow library. */
const READERS: Readonly<Record<UploadFormat, Reader>> = {
  csv: ingestCsv,
  tsv: ingestCsv,
  parquet: async (...upload) => (await import('./parquet/ingest.ts')).ingestParquet(...upload),
  json: rewriting(() => import('./json/to-csv.ts')),
  ndjson: rewriting(() => import('./json/to-csv.ts')),
  arrow: rewriting(() => import('./arrow/to-csv.ts')),
  xlsx: workbook(async (request) => (await import('./xlsx/open.ts')).openXlsx(request)),
  xls: workbook(async (request) => (await import('./xls/open.ts')).openXls(request)),
  xlsb: workbook(async (request) => (await import('./xls/open.ts')).openXls(request)),
  ods: workbook(async (request) => (await import('./ods/open.ts')).openOds(request)),
  html: async (...upload) => (await import('./html/ingest.ts')).ingestHtml(...upload),
  avro: rewriting(() => import('./avro/to-csv.ts')),
  sqlite: rewriting(() => import('./sqlite/to-csv.ts')),
  duckdb: async (...upload) => (await import('./duckdb/ingest.ts')).ingestDuckDb(...upload),
  sav: rewriting(() => import('./sav/to-csv.ts')),
  px: rewriting(() => import('./cube/px.ts')),
  zip: async (duck, _, request) => (await import('./zip/ingest.ts')).ingestZip(duck, request, ingest),
}

function rewriting(load: () => Promise<{ readonly toCsv: ToCsv }>): Reader {
  return async (...upload) => ingestRewritten((await load()).toCsv, ...upload)
}

function workbook(open: OpenBook): Reader {
  return async (...upload) => (await import('./workbook/ingest.ts')).ingestWorkbook(open, ...upload)
}
