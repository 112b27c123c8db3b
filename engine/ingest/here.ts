import { writeFileSync } from 'node:fs'
import { EngineError } from '../errors.ts'
import type { Tokenizer } from './csv/tokenizer.ts'
import type { ManyRequest, ManyResult } from './many.ts'
import type { Cells } from './parts/plain-part.ts'
import { settledColumns, unnamedIn } from './targets.ts'
import { malformed } from './text/errors.ts'

/** More bytes, columns or cells would keep this thread from answering others for milliseconds. */
const MOST_BYTES = 64 * 1024
const MOST_COLUMNS = 500
const MOST_CELLS = 20_000

/**
 * What the job `ingestMany` does, done in this process without DuckDB: for some rows the messages to a reader process
 * take longer than the rows. The same code checks them; this only turns texts that were checked into values.
 * @returns undefined if a reader is to do it: where there is much, or a body has a fault, or a value is written in a way
 * that only DuckDB reads. Then there is no file.
 * @throws the system's error if the file can't be written
 */
export async function ingestHere(request: ManyRequest): Promise<ManyResult | undefined> {
  const { bodies, existing = [], options, target } = request
  const bytes = bodies.reduce((sum, body) => sum + body.byteLength, 0)
  if (existing.length === 0 || existing.length > MOST_COLUMNS || bytes > MOST_BYTES || options)
    return undefined
  // Loaded only here, so that programs which only read do not spend time on it.
  const [{ rewriteMany }, { rawBytesOf, warningsOf }, { plainPart }, { Tokenizer }] = await loadReading()
  try {
    const { targets, source, pieces, taken } = await rewriteMany(request)
    const { rows } = source
    if (rows === 0 || rows * targets.length > MOST_CELLS) return undefined
    const columns = settledColumns(targets, source.kinds)
    const fields = cellsOf(
      pieces,
      source.kinds.length,
      new Tokenizer(source.delimiter, (what) => malformed(what)),
    )
    const none: Cells = Array(rows).fill(null)
    const cells = targets.map(({ source: field }) => (field === undefined ? none : fields[field]!))
    const made = plainPart(columns, cells, rows)
    if (!made) return undefined
    // Not in libuv's pool, where each step would wait for a core behind the statements that run there.
    writeFileSync(target, made.bytes, { mode: 0o600, flag: 'wx' })
    const reasons = targets.map(({ source: field }) => source.reasons[field ?? -1])
    const rawBytes = rawBytesOf(source, targets, columns)
    const warnings = warningsOf(source, targets, columns)
    return { ...made.part, columns, rawBytes, reasons, ...warnings, unnamed: unnamedIn(targets), taken }
  } catch (error) {
    if (error instanceof EngineError) return undefined
    throw error
  }
}

function loadReading() {
  return Promise.all([
    import('./many.ts'),
    import('./csv/ingest.ts'),
    import('./parts/plain-part.ts'),
    import('./csv/tokenizer.ts'),
  ])
}

/** The fields of csv that `CellWriter` has written, by their columns. */
function cellsOf(pieces: readonly Uint8Array[], count: number, tokenizer: Tokenizer): Cells[] {
  const cells = Array.from({ length: count }, (): (string | null)[] => [])
  // The tokenizer needs a byte behind the last one.
  const bytes = Buffer.concat([...pieces, Buffer.alloc(1)])
  for (let at = 0; at < bytes.length - 1; ) {
    at = tokenizer.read(bytes, at, bytes.length - 1, true)
    for (const [field, { text, quoted }] of tokenizer.fields(bytes).entries())
      cells[field]!.push(quoted || text !== '' ? text : null)
  }
  return cells
}
