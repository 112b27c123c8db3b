import { writeFile } from 'node:fs/promises'
import { EngineError } from '../errors.ts'
import type { ManyRequest, ManyResult } from './many.ts'
import type { Cells } from './parts/plain-part.ts'
import { settledColumns, unnamedIn } from './targets.ts'

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
  const [{ rewriteMany }, { rawBytesOf }, { plainPart }] = await loadReading()
  try {
    const { targets, source, pieces, taken } = await rewriteMany(request)
    const { rows } = source
    if (rows === 0 || rows * targets.length > MOST_CELLS) return undefined
    const columns = settledColumns(targets, source.kinds)
    const fields = cellsOf(Buffer.concat(pieces), source.kinds.length)
    const none: Cells = Array(rows).fill(null)
    const cells = targets.map(({ source: field }) => (field === undefined ? none : fields[field]!))
    const made = plainPart(columns, cells, rows)
    if (!made) return undefined
    await writeFile(target, made.bytes, { mode: 0o600, flag: 'wx' })
    const reasons = targets.map(({ source: field }) => source.reasons[field ?? -1])
    const rawBytes = rawBytesOf(source, targets, columns)
    return { ...made.part, columns, rawBytes, reasons, unnamed: unnamedIn(targets), taken }
  } catch (error) {
    if (error instanceof EngineError) return undefined
    throw error
  }
}

function loadReading() {
  return Promise.all([import('./many.ts'), import('./csv/ingest.ts'), import('./parts/plain-part.ts')])
}

const [QUOTE, LF, UNIT_SEPARATOR] = [0x22, 0x0a, 0x1f]

/** The fields of csv that `CellWriter` has written, by their columns. */
function cellsOf(csv: Buffer, count: number): Cells[] {
  const cells: (Buffer | null)[][] = Array.from({ length: count }, () => [])
  for (let at = 0, field = 0; at < csv.length; at++) {
    const isQuoted = csv[at] === QUOTE
    const from = at
    if (isQuoted) while (csv[++at] !== QUOTE || csv[at + 1] === QUOTE) if (csv[at] === QUOTE) at++
    while (csv[at] !== UNIT_SEPARATOR && csv[at] !== LF) at++
    cells[field]!.push(
      isQuoted ? unquoted(csv.subarray(from + 1, at - 1)) : at > from ? csv.subarray(from, at) : null,
    )
    field = csv[at] === LF ? 0 : field + 1
  }
  return cells
}

function unquoted(text: Buffer): Buffer {
  return text.includes(QUOTE) ? Buffer.from(text.toString('utf8').replaceAll('""', '"')) : text
}
