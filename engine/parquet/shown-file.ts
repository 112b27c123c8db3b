import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Part } from '../catalog/records.ts'
import { EngineError } from '../errors.ts'
import { type RowGroup, rowGroups, type ShownColumn, shownFooter } from './footer.ts'
import { fileEnd, TAIL_BYTES } from './parquet-file.ts'

/** How many bytes of footers are kept in memory: a wide table has some megabytes of them. */
const CACHE_BYTES = 64 << 20

/** Bytes `from` (inclusive) to `to` (exclusive) of a part. */
export type ReadRange = (from: number, to: number) => AsyncGenerator<Uint8Array, void, undefined>

/** A part as users see it: a Parquet file with the column names that they chose. */
export interface ShownFile {
  /** Identifies the file among those of its version; it is never used for another file. */
  readonly number: number
  readonly rows: number
  /** Its length, which differs a little from that of the part. */
  readonly bytes: number
  /** Changes when any byte of the file changes. */
  readonly etag: string
  readonly rowGroups: readonly RowGroup[]
  /** Bytes `from` (inclusive) to `to` (exclusive). */
  readonly read: ReadRange
}

interface Shown {
  /** Where the footer begins, both in the part and in the file that users see. */
  readonly start: number
  /** The new footer, its length and the magic number. */
  readonly end: Buffer
  readonly groups: readonly RowGroup[]
}

/** Makes the files that users see, and keeps their footers, because readers ask for many ranges of a file. */
export class ShownFiles {
  readonly #shown = new LRUCache<
    string,
    Shown,
    { bytes: number; read: ReadRange; columns: readonly ShownColumn[] }
  >({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ end, groups }) => end.length + 100 * groups.length + 200,
    fetchMethod: (_key, _old, { context }) => shownOf(context.bytes, context.read, context.columns),
  })

  /** @throws EngineError `storage_damaged` if the part has no valid footer with these columns */
  async open(part: Part, read: ReadRange, columns: readonly ShownColumn[]): Promise<ShownFile> {
    // An etag of an older program is of a footer with the Bloom filters of binary columns.
    const seen = columns.map(({ name, type }) => [name, type === 'binary' ? type : type === 'json'])
    const key = `${part.id}-${createHash('sha256').update(JSON.stringify(seen)).digest('base64url').slice(0, 22)}`
    const { start, end, groups } = (await this.#shown.fetch(key, {
      context: { bytes: part.bytes, read, columns },
    }))!
    return {
      number: part.id,
      rows: part.rows,
      bytes: start + end.length,
      etag: key,
      rowGroups: groups,
      async *read(from, to) {
        if (from < start) yield* read(from, Math.min(to, start))
        if (to > start) yield end.subarray(Math.max(from - start, 0), to - start)
      },
    }
  }
}

async function shownOf(bytes: number, read: ReadRange, columns: readonly ShownColumn[]): Promise<Shown> {
  const tail = await readAll(read, bytes - TAIL_BYTES, bytes)
  const length = tail.readUInt32LE(0)
  const start = bytes - TAIL_BYTES - length
  try {
    if (start < 0) throw new RangeError('the file is too short')
    const footer = await readAll(read, start, start + length)
    // Of the columns that are shown: the others may lie far behind them.
    const shown = shownFooter(footer, columns)
    return { start, end: fileEnd(shown), groups: rowGroups(shown) }
  } catch (cause) {
    if (cause instanceof EngineError && cause.code === 'storage_unavailable') throw cause
    throw new EngineError('storage_damaged', 'The footer of a part of the stored rows is damaged.', { cause })
  }
}

async function readAll(read: ReadRange, from: number, to: number): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of read(from, to)) pieces.push(piece)
  return Buffer.concat(pieces)
}
