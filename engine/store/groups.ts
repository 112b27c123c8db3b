import { EngineError, type ErrorCode } from '../errors.ts'
import { isTextFormat, type UploadFormat } from '../ingest/upload-format.ts'
import { paced } from '../util/concurrency.ts'
import type { MadeContent, Upload, WriteMode } from './upload.ts'
import type { WrittenRecord } from './written.ts'

/** The most bytes of a body that is written together with others. */
export const SMALL_BYTES = 64 * 1024
/** The most bytes and writes of a group. */
const MOST_BYTES = 4 * 2 ** 20
const MOST_WRITES = 1_000

/** Whether small uploads of a format are committed together: those of text. */
export function isGrouped(format: UploadFormat | undefined): boolean {
  return format !== undefined && isTextFormat(format)
}

/** A write whose rows may be committed together with those of others. */
export interface SmallWrite {
  readonly mode: 'append' | 'upsert'
  readonly upload: Upload & { readonly body: Uint8Array }
}

/**
 * The write of an upload that is small, is read by the columns of the dataset alone, and need not be by itself.
 * @param limit the most bytes of an upload
 */
export function smallWrite(upload: Upload, mode: WriteMode, limit: number): SmallWrite | undefined {
  const { body, format, gzip, columns, options, addColumns, fileColumn, alone, onProgress } = upload
  const most = Math.min(SMALL_BYTES, limit)
  if (mode === 'replace' || !(body instanceof Uint8Array) || body.byteLength > most) return undefined
  if (!isGrouped(format) || gzip || columns || options || addColumns || fileColumn) return undefined
  if (alone || onProgress) return undefined
  return { mode, upload: { ...upload, body } }
}

/** Writes with the same are committed together: one version has one author and one note. */
function kindOf({ mode, upload }: SmallWrite): string {
  const { format, by, note, missing, on, isRefresh } = upload
  return JSON.stringify([mode, format, by, note, missing, on, isRefresh])
}

/** Errors of the rows of an upload, with which nothing was changed. */
const OF_ROWS: readonly ErrorCode[] = [
  'invalid_upload',
  'column_conflict',
  'missing_columns',
  'duplicate_key',
  'upload_too_large',
  'invalid_option',
]

/** How writes are made. */
interface Writing {
  /** Writes one by itself. */
  readonly alone: (datasetId: number, write: SmallWrite) => Promise<WrittenRecord>
  /** Writes several as one; those whose rows are not `taken` are as they were. */
  readonly together: (datasetId: number, writes: readonly SmallWrite[]) => Promise<Together>
}

/** What was written, and the positions of the writes; undefined if they can't be read together. */
type Together = { readonly record: WrittenRecord; readonly taken: readonly number[] } | undefined

interface Waiting extends PromiseWithResolvers<WrittenRecord> {
  readonly write: SmallWrite
}

/**
 * Commits small writes to one dataset together that come while another is under way: one version, one part, one set of
 * syncs. If a group can't be committed because of one of its writes, its halves are, until that one is by itself and fails
 * with its own error.
 */
export class Groups {
  readonly #writing: Writing
  /** The writes that wait, for each dataset that has one under way. */
  readonly #queues = new Map<number, Waiting[]>()

  constructor(writing: Writing) {
    this.#writing = writing
  }

  write(datasetId: number, write: SmallWrite): Promise<WrittenRecord> {
    const waiting = { ...Promise.withResolvers<WrittenRecord>(), write }
    const queue = this.#queues.get(datasetId)
    if (queue) queue.push(waiting)
    else {
      const started = [waiting]
      this.#queues.set(datasetId, started)
      void this.#run(datasetId, started)
    }
    return waiting.promise
  }

  async #run(datasetId: number, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) await this.#commit(datasetId, takeGroup(queue))
    this.#queues.delete(datasetId)
  }

  /** Never throws. */
  async #commit(datasetId: number, group: readonly Waiting[]): Promise<void> {
    const [first, ...rest] = group
    if (!first) return
    if (rest.length === 0) return this.#alone(datasetId, first)
    const writes = group.map(({ write }) => write)
    let done: Together
    try {
      done = await this.#writing.together(datasetId, writes)
    } catch (error) {
      const isOfOne = !(error instanceof EngineError) || OF_ROWS.includes(error.code)
      if (!isOfOne) {
        for (const { reject } of group) reject(error)
        return
      }
      const half = Math.ceil(group.length / 2)
      await this.#commit(datasetId, group.slice(0, half))
      return this.#commit(datasetId, group.slice(half))
    }
    if (!done) {
      // It may bring the columns by which the others are read.
      await this.#alone(datasetId, first)
      return this.#commit(datasetId, rest)
    }
    for await (const index of paced(done.taken)) group[index]!.resolve(done.record)
    for (const [index, one] of group.entries())
      if (!done.taken.includes(index)) await this.#alone(datasetId, one)
  }

  #alone(datasetId: number, { write, resolve, reject }: Waiting): Promise<void> {
    return this.#writing.alone(datasetId, write).then(resolve, reject)
  }
}

/** Takes the writes from a queue that can be committed with the first of it, in their order. */
function takeGroup(queue: Waiting[]): Waiting[] {
  const kind = kindOf(queue[0]!.write)
  const group: Waiting[] = []
  const rest: Waiting[] = []
  let bytes = 0
  for (const waiting of queue) {
    const { upload } = waiting.write
    const fits = group.length < MOST_WRITES && bytes + upload.body.byteLength <= MOST_BYTES
    if (upload.signal?.aborted) waiting.reject(upload.signal.reason)
    else if (fits && kindOf(waiting.write) === kind) {
      group.push(waiting)
      bytes += upload.body.byteLength
    } else rest.push(waiting)
  }
  queue.splice(0, queue.length, ...rest)
  return group
}

/** What all of some writes are accepted by, in one transaction. */
export function acceptAll(writes: readonly SmallWrite[]): NonNullable<Upload['accept']> {
  return async (made: MadeContent, t) => {
    for (const { upload } of writes) await upload.accept?.(made, t)
  }
}
