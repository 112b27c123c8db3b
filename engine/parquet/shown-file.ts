import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import type { Part } from '../catalog/records.ts'
import { EngineError } from '../errors.ts'
import { readFooter } from './file-footer.ts'
import { type RowGroup, rowGroups, type ShownColumn, shownFooter } from './footer.ts'

const READ_BYTES = 256 << 10
/** Footers that are kept: wide tables have some megabytes of them. */
const CACHE_BYTES = 64 << 20

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
  read(from: number, to: number): AsyncGenerator<Uint8Array, void, undefined>
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
  readonly #shown = new LRUCache<string, Shown, { file: string; columns: readonly ShownColumn[] }>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ end, groups }) => end.length + 100 * groups.length + 200,
    fetchMethod: (_key, _old, { context }) => shownOf(context.file, context.columns),
  })

  /** @throws EngineError `storage_damaged` where the part has no footer of such columns */
  async open(part: Part, file: string, columns: readonly ShownColumn[]): Promise<ShownFile> {
    const seen = columns.map(({ name, type }) => [name, type === 'json'])
    const key = `${part.id}-${createHash('sha256').update(JSON.stringify(seen)).digest('base64url').slice(0, 22)}`
    const { start, end, groups } = (await this.#shown.fetch(key, { context: { file, columns } }))!
    return {
      number: part.id,
      rows: part.rows,
      bytes: start + end.length,
      etag: key,
      rowGroups: groups,
      async *read(from, to) {
        if (from < start) yield* fileBytes(file, from, Math.min(to, start))
        if (to > start) yield end.subarray(Math.max(from - start, 0), to - start)
      },
    }
  }
}

async function shownOf(file: string, columns: readonly ShownColumn[]): Promise<Shown> {
  await using handle = await open(file)
  try {
    const { footer, start, tail } = await readFooter(handle)
    const shown = shownFooter(footer, columns)
    tail.writeUInt32LE(shown.length)
    return { start, end: Buffer.concat([shown, tail]), groups: rowGroups(footer) }
  } catch (cause) {
    throw new EngineError('storage_damaged', 'The footer of a part of the stored rows is damaged.', { cause })
  }
}

async function* fileBytes(
  file: string,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  await using handle = await open(file)
  for (let at = from; at < to; ) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafeSlow(Math.min(READ_BYTES, to - at)), {
      position: at,
    })
    if (bytesRead === 0) throw new EngineError('storage_damaged', 'A part of the stored rows is cut off.')
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
