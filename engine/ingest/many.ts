import { writeFile } from 'node:fs/promises'
import type { Duck } from '../duckdb/duck.ts'
import { EngineError } from '../errors.ts'
import { paced } from '../util/concurrency.ts'
import { TemporaryFile } from '../util/whole-file.ts'
import { loadCsv } from './csv/ingest.ts'
import { toCsv as csvToCsv } from './csv/to-csv.ts'
import { MemorySink } from './file.ts'
import { refuseLongTexts } from './parts/part.ts'
import type { Hooks, IngestRequest, IngestResult } from './request.ts'
import { knownColumns, unnamedIn } from './targets.ts'
import type { CsvSource, Rewritten } from './text/rewritten.ts'

/** Small uploads in one of the text formats, for a dataset that has columns. */
export interface ManyRequest extends Omit<IngestRequest, 'file' | 'gzip' | 'declared' | 'addColumns'> {
  readonly bodies: readonly Uint8Array[]
}

export interface ManyResult extends IngestResult {
  /** The positions of the bodies whose rows are in the part, in their order. */
  readonly taken: readonly number[]
}

/**
 * Reads several uploads and writes their rows as one part.
 * @throws EngineError as `rewriteMany`; `storage_full`
 */
export async function ingestMany(duck: Duck, request: ManyRequest, hooks: Hooks): Promise<ManyResult> {
  const { targets, source, pieces, taken } = await rewriteMany(request)
  await using csv = new TemporaryFile(duck.tempDirectory)
  await writeFile(csv.path, pieces, { mode: 0o600 })
  const given = { ...request, ...hooks, file: '' }
  const result = await loadCsv(duck, { ...source, file: csv.path }, targets, given)
  await refuseLongTexts(duck, request.target, result, hooks)
  return { ...result, taken }
}

/** Several uploads as one csv, as `CellWriter` writes it. */
interface RewrittenMany extends Pick<Rewritten, 'targets' | 'source'>, Pick<ManyResult, 'taken'> {
  readonly pieces: readonly Uint8Array[]
}

/**
 * Rewrites several uploads as csv. Each is checked by itself. One that has a fault, or whose fields come in another order
 * than those of the first, is left out.
 * @throws EngineError the fault of the first if all have one
 */
export async function rewriteMany({ bodies, ...given }: ManyRequest): Promise<RewrittenMany> {
  const request = { ...given, file: '' }
  const toCsv = await rewriterOf(request)
  const known = knownColumns(request)
  const pieces: Uint8Array[] = []
  const taken: number[] = []
  let all: Rewritten | undefined
  let fault: unknown
  for await (const [index, bytes] of paced(bodies.entries())) {
    const sink = new MemorySink()
    try {
      const one = await toCsv({ ...request, bytes }, sink, known)
      if (given.missing === 'keep' && isUnnamed(one)) continue
      if (all && String(all.targets.map(fieldOf)) !== String(one.targets.map(fieldOf))) continue
      all = all ? { ...all, source: both(all.source, one.source) } : one
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      fault ??= error
      continue
    }
    pieces.push(...sink.pieces)
    taken.push(index)
  }
  if (!all) throw fault ?? new EngineError('invalid_upload', 'None of the uploads can be read with others.')
  return { targets: all.targets, source: all.source, pieces, taken }
}

async function rewriterOf({ format }: Pick<IngestRequest, 'format'>) {
  return format === 'csv' || format === 'tsv' ? csvToCsv : (await import('./json/to-csv.ts')).toCsv
}

const fieldOf = ({ source }: Rewritten['targets'][number]) => source ?? ''

/** Whether rows do not name all columns. */
function isUnnamed({ targets, unnamed = unnamedIn(targets) }: Rewritten): boolean {
  return unnamed.all.length + unnamed.some.length > 0
}

/** What is known of one csv file and then another, as one. */
function both(one: CsvSource, other: CsvSource): CsvSource {
  const sum = (name: 'nulls' | 'empties' | 'widths') =>
    one[name].map((value, index) => value + other[name][index]!)
  return {
    ...one,
    // Each is answered with what is said of all, where a row of one would be another's.
    rounded: [],
    rows: one.rows + other.rows,
    kinds: one.kinds.map((kinds, index) => kinds | other.kinds[index]!),
    nulls: sum('nulls'),
    empties: sum('empties'),
    widths: sum('widths'),
    longest: Math.max(one.longest, other.longest),
    quotes: one.quotes || other.quotes,
    quotedNewlines: one.quotedNewlines || other.quotedNewlines,
  }
}
