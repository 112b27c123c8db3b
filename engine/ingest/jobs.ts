import type { Duck } from '../duckdb/duck.ts'
import { EngineError } from '../errors.ts'
import type { Column } from '../types/index.ts'
import { TemporaryFile } from '../util/whole-file.ts'
import { copyRecords } from './beginning.ts'
import { ingestDialect } from './csv/ingest.ts'
import {
  type EditInput,
  editPart,
  type FindInput,
  type FoundRows,
  findRepeated,
  findRows,
  type Repeated,
  type RepeatedInput,
} from './edit/edit.ts'
import { readPacked } from './file.ts'
import { refuseForeign } from './foreign.ts'
import { refuseLongTexts } from './long-texts.ts'
import { ingestParquet } from './parquet/ingest.ts'
import { type Cut, cutPart } from './parts/cut.ts'
import { writePart } from './parts/part.ts'
import { rewriteParts, verifyPart } from './parts/parts.ts'
import { type ColumnProfile, profileParts } from './profile.ts'
import type { Hooks, IngestRequest, IngestResult, ReadRequest, SizedPart } from './request.ts'
import { knownColumns } from './targets.ts'
import { ingestRewritten } from './text/rewritten.ts'

/** Parts of one dataset, and the columns with which their rows are to be written. */
export interface RewriteInput {
  readonly parts: readonly string[]
  readonly target: string
  readonly from: readonly Column[]
  readonly to: readonly Column[]
}

export interface ProfileInput {
  readonly parts: readonly string[]
  readonly columns: readonly Column[]
}

export interface CutInput {
  readonly part: string
  readonly cuts: readonly Cut[]
  readonly columns: readonly Column[]
  /** The bytes of all values of the part; each new part is given a share according to its rows. */
  readonly rawBytes: number
}

/** Rows that a relation finds in parts, as c0, c1, …, each with its place, and what is known of them before. */
export interface CompareInput {
  readonly parts: readonly string[]
  readonly relation: string
  readonly target: string
  readonly columns: readonly Column[]
  readonly size: { readonly rows: number; readonly rawBytes: number }
}

/** What DuckDB may use to compare rows; more of them go to the disk. With 128 MiB, wide rows do not fit. */
const COMPARE_MEMORY = '192MiB'

/**
 * What a reader process does (`process/main.ts`). Inputs and results are plain data. Its parent calls the same functions
 * through a proxy (`Ingestor.jobs`). It
 * also removes what a job that fails has written.
 */
export function jobsWith(duck: Duck) {
  return {
    /**
     * Reads an upload and writes it as one part. The rows keep the order of the upload.
     * @throws EngineError `invalid_upload`, `column_conflict`, `upload_too_large`, `storage_full`, `cancelled` …
     */
    async ingest(request: IngestRequest, hooks: Hooks = {}): Promise<IngestResult> {
      const result = await ingest(duck, { ...request, ...hooks, tempDirectory: duck.tempDirectory })
      await refuseLongTexts(duck, request.target, result, hooks)
      return result
    },

    /**
     * Writes the rows of parts, in order, as one part under a changed manifest: columns may be added as nulls, reordered,
     * and widened.
     * @throws EngineError `column_conflict` where a type can't become the other without loss
     */
    rewrite({ parts, target, from, to }: RewriteInput, hooks: Hooks = {}): Promise<SizedPart> {
      return rewriteParts(duck, parts, target, from, to, hooks)
    },

    /** Writes the rows of a part as several parts, in order. */
    cut({ part, cuts, columns, rawBytes }: CutInput, hooks: Hooks = {}): Promise<SizedPart[]> {
      return cutPart(duck, part, cuts, columns, rawBytes, hooks)
    },

    /** Finds rows of parts, by a condition or by their keys. @throws EngineError `filter_failed` */
    find(input: FindInput, hooks: Hooks = {}): Promise<Record<number, FoundRows>> {
      return findRows(duck, input, hooks)
    },

    /** Writes a part again without some rows, or with other values in them. @throws EngineError `filter_failed` */
    edit(input: EditInput, hooks: Hooks = {}): Promise<SizedPart> {
      return editPart(duck, input, hooks)
    },

    /** Finds rows that repeat a key. */
    repeated(input: RepeatedInput, hooks: Hooks = {}): Promise<Repeated[]> {
      return findRepeated(duck, input, hooks)
    },

    /** Writes the rows that a relation finds as one part, in order, and in little memory if it can be done. */
    async compare({ relation, target, columns, size }: CompareInput, hooks: Hooks = {}): Promise<void> {
      const names = columns.map((_, index) => `c${index}`)
      const sql = `SELECT ${names.join(', ')} FROM ${relation} ORDER BY file_index, file_row_number`
      const write = (duck: Duck) => writePart(duck, sql, target, { ...size, columns }, hooks)
      const small = await duck.withMemory(COMPARE_MEMORY)
      try {
        await write(small)
      } catch (error) {
        if (!(error instanceof EngineError && error.code === 'overloaded')) throw error
        await write(duck)
      } finally {
        await small.close()
      }
    },

    /** What the values of the columns of parts are like. */
    profile({ parts, columns }: ProfileInput, hooks: Hooks = {}): Promise<ColumnProfile[]> {
      return profileParts(duck, parts, columns, hooks)
    },

    /** Decodes every page of a part. @throws if it can't be read to its end */
    verify(
      { part }: { readonly part: string },
      hooks: Hooks = {},
    ): Promise<{ rows: number; columns: string[] }> {
      return verifyPart(duck, part, hooks)
    },
  }
}

export type Jobs = ReturnType<typeof jobsWith>
export type JobName = keyof Jobs
export type JobInput = Parameters<Jobs[JobName]>[0]

async function ingest(duck: Duck, request: ReadRequest): Promise<IngestResult> {
  try {
    if (!request.gzip) return await read(duck, request)
    return await readPacked(request, (unpacked) => read(duck, unpacked))
  } catch (error) {
    // Here DuckDB's memory limit is for this upload alone, so another attempt later would not get more.
    if (!(error instanceof EngineError && error.code === 'overloaded')) throw error
    throw new EngineError('upload_too_large', 'The upload needs more memory than one upload may take.', {
      cause: error,
    })
  }
}

async function read(duck: Duck, request: ReadRequest): Promise<IngestResult> {
  await refuseForeign(request.file, request.format, request.limits.unpackedBytes)
  if (!request.beginning) return readWhole(duck, request)
  await using whole = new TemporaryFile(request.tempDirectory)
  await copyRecords(request, whole.path)
  return await readWhole(duck, { ...request, file: whole.path })
}

function readWhole(duck: Duck, request: ReadRequest): Promise<IngestResult> {
  const known = knownColumns(request.existing, request.declared)
  switch (request.format) {
    case 'csv':
    case 'tsv':
      return ingestDialect(duck, known, request)
    case 'parquet':
      return ingestParquet(duck, known, request)
    case 'json':
    case 'ndjson':
    case 'arrow':
    case 'xlsx':
      return ingestRewritten(duck, request)
    default:
      return request.format satisfies never
  }
}
