import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Part } from '../catalog/records.ts'
import { EngineError } from '../errors.ts'
import { TAIL_BYTES } from './file-footer.ts'
import { type RowGroup, rowGroups, type ShownColumn, shownFooter } from './footer.ts'

/** Footers that are kept: wide tables have some megabytes of them. */
const CACHE_BYTES = 64 << 20

/** Bytes `from` (inclusive) to `to` (exclusive) of a part. */
export type ReadRange = (from: number, to: number) => AsyncGenerator<Uint8Array, void, undefined>

/** A part as its users see it: a Parquet file with their own column names. */
export interface ShownFile {
  /** Names the file among those of its version, and never another one. */
  readonly number: number
  readonly rows: number
  /** Its length, which is not quite that of the part. */
  readonly bytes: number
  /** Changes when any byte does. */
  readonly etag: string
  readonly rowGroups: readonly RowGroup[]
  /** Bytes `from` (inclusive) to `to` (exclusive). */
  readonly read: ReadRange
}

interface Shown {
  /** Where the footer begins, in the part and in what is shown of it. */
  readonly start: number
  /** The footer with its length and the magic. */
  readonly end: Buffer
  readonly groups: readonly RowGroup[]
}

/** Footers as users see them, kept for those who read a file in many ranges. */
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

  /** @throws EngineError `storage_damaged` where the part has no footer of such columns */
  async open(part: Part, read: ReadRange, columns: readonly ShownColumn[]): Promise<ShownFile> {
    const seen = columns.map(({ name, type }) => [name, type === 'json'])
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
    const shown = shownFooter(footer, columns)
    tail.writeUInt32LE(shown.length)
    return { start, end: Buffer.concat([shown, tail]), groups: rowGroups(footer) }
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
