import type { Duck } from '../duckdb/duck.ts'
import { EngineError } from '../errors.ts'
import { TemporaryFile } from '../util/whole-file.ts'
import { ingestCsv, ingestRewritten, type ToCsv } from './csv/ingest.ts'
import { readStart, unpack } from './file.ts'
import { ingestParquet } from './parquet/ingest.ts'
import { fillParts } from './parts/fill.ts'
import { refuseLongTexts } from './parts/part.ts'
import {
  cutPart,
  editPart,
  findRepeated,
  findRows,
  rewriteParts,
  verifyPart,
  writeCompared,
} from './parts/parts.ts'
import { profileParts } from './profile.ts'
import type { Hooks, IngestRequest, IngestResult, ReadRequest, UploadFormat } from './request.ts'
import { type KnownColumns, knownColumns } from './targets.ts'
import { malformed } from './text/errors.ts'
import { binaryFormat, TEXT_FORMATS } from './upload-format.ts'

/**
 * What a reader process does (`process/main.ts`). Inputs and results are plain data. Its parent calls the same functions
 * through a proxy (`Ingestor.jobs`), and removes what a job that fails has written.
 */
export const JOBS = {
  ingest: ingestUpload,
  rewrite: rewriteParts,
  cut: cutPart,
  find: findRows,
  edit: editPart,
  fill: fillParts,
  repeated: findRepeated,
  compare: writeCompared,
  profile: profileParts,
  verify: verifyPart,
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
  await refuseForeign(given)
  return await READERS[given.format](duck, knownColumns(given, given.declared), given)
}

type Reader = (duck: Duck, known: KnownColumns, request: ReadRequest) => Promise<IngestResult>

/** How each format is read. The code of some is loaded when it is needed: ndjson does not need the Arrow library. */
const READERS: Readonly<Record<UploadFormat, Reader>> = {
  csv: ingestCsv,
  tsv: ingestCsv,
  parquet: ingestParquet,
  json: rewriting(() => import('./json/to-csv.ts')),
  ndjson: rewriting(() => import('./json/to-csv.ts')),
  arrow: rewriting(() => import('./arrow/to-csv.ts')),
  xlsx: rewriting(() => import('./xlsx/to-csv.ts')),
}

function rewriting(load: () => Promise<{ readonly toCsv: ToCsv }>): Reader {
  return async (...upload) => ingestRewritten((await load()).toCsv, ...upload)
}

/** Formats that files are often in although they are sent as another one. */
type Foreign = 'xls' | 'xlsb' | 'ods' | 'zip' | 'feather1' | 'gzip' | 'zstd'

/** What each of them is, and how to get a file that can be read. */
const WAYS_OUT: Readonly<Record<Foreign, string>> = {
  xls: 'The file is an Excel workbook of the old format xls: save it as xlsx or csv.',
  xlsb: 'The file is a binary Excel workbook (xlsb): save it as xlsx or csv.',
  ods: 'The file is an OpenDocument spreadsheet (ods): save it as xlsx or csv.',
  zip: 'The file is a zip archive: unpack it and send the files in it one by one; csv may be compressed with gzip.',
  feather1:
    'The file is Feather version 1: write it as version 2 (write_feather(table, file, version=2)) or as Parquet.',
  gzip: 'The file is compressed with gzip: unpack it, or declare it (over HTTP with Content-Encoding: gzip).',
  zstd: 'The file is compressed with zstd: unpack it, or compress it with gzip.',
}

const BINARY = { parquet: 'Parquet', arrow: 'Arrow', xlsx: 'an xlsx workbook' } as const

/**
 * Refuses a file that is in another format than it is said to be, with a way out.
 * @throws EngineError `invalid_upload`
 */
async function refuseForeign({ file, format, limits }: ReadRequest): Promise<void> {
  const found = binaryFormat(await readStart(file, 8))
  if (found === undefined) return
  const foreign = found === 'xlsx' ? await archiveOf(file, limits.unpackedBytes) : found
  if (foreign in WAYS_OUT) throw malformed(WAYS_OUT[foreign as Foreign])
  if (TEXT_FORMATS.has(format)) {
    throw malformed(
      `The file is ${BINARY[foreign as keyof typeof BINARY]}, not ${format}: send it as ${foreign}.`,
    )
  }
}

/** What a zip archive holds. One that is damaged is left to its reader. */
async function archiveOf(file: string, unpackedBytes: number): Promise<'xlsx' | Foreign> {
  try {
    const { ZipReader } = await import('./xlsx/unzip.ts')
    await using zip = await ZipReader.open(file, unpackedBytes)
    const has = (name: string) => zip.entries.has(name)
    if (has('xl/workbook.bin')) return 'xlsb'
    if (has('content.xml') && has('mimetype')) return 'ods'
    return has('[Content_Types].xml') || has('xl/workbook.xml') ? 'xlsx' : 'zip'
  } catch {
    return 'xlsx'
  }
}
