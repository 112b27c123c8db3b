import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Handle } from '../catalog/database.ts'
import { requireOwnFiles } from '../catalog/datasets.ts'
import type { DatasetRecord, Part, Version } from '../catalog/records.ts'
import { EngineError } from '../errors.ts'
import { spool } from '../ingest/file.ts'
import { ingestHere } from '../ingest/here.ts'
import type { Jobs } from '../ingest/jobs.ts'
import type { IngestRequest, IngestResult } from '../ingest/request.ts'
import {
  type ColumnDescription,
  checkColumns,
  type DeclaredColumn,
  keyPositions,
  manifestChange,
  sameColumns,
  withDescriptions,
} from '../types/columns.ts'
import { keepDescriptions } from '../types/file-metadata.ts'
import { InFlight } from '../util/concurrency.ts'
import type { Commits, Content, MadeParts, WorkContext } from './commits.ts'
import { addingColumns, changeOf, Edits, editByKey, type PlanEdit, requireDistinct, rowsOf } from './edits.ts'
import { emptiedIn } from './emptied.ts'
import { acceptAll, Groups, type SmallWrite, smallWrite } from './groups.ts'
import type { Lease } from './membership/membership.ts'
import {
  checkUpload,
  type DeclareOptions,
  type EditedRows,
  keyOf,
  type MadeContent,
  type PreviewOptions,
  type Reading,
  requestOf,
  requireFile,
  type Upload,
  type WriteMode,
  type WriteOptions,
} from './upload.ts'
import { readAsBefore, storedAfter, usedOptions, withStored } from './upload-options.ts'
import { explained, type WrittenRecord, withoutMarks } from './written.ts'

/** Makes new versions: by uploads, edits, declared columns and keys, and past versions. */
export class Writer {
  readonly #context: WorkContext
  readonly #writes = new InFlight()
  readonly #groups: Groups = new Groups({
    alone: (datasetId, write) => this.#writeSmall(datasetId, write),
    together: (datasetId, writes) => this.#writeTogether(datasetId, writes),
  })
  #spooled = 0

  constructor(context: WorkContext) {
    this.#context = context
  }

  /** Refuses new writes; resolves when the writes under way are done. */
  end(): Promise<void> {
    return this.#writes.end()
  }

  /** Replaces a dataset's rows by those of an upload, or adds them: all of them or, if it fails, none. */
  write(datasetId: number, upload: Upload, mode: WriteMode): Promise<WrittenRecord> {
    return this.#change(datasetId, async () => {
      checkUpload(upload, mode)
      requireOwnFiles(datasetId, await this.#context.versions.current(datasetId))
      const small = smallWrite(upload, mode, this.#context.uploadLimits.bytes)
      return small ? this.#groups.write(datasetId, small) : this.#writeAlone(datasetId, upload, mode)
    })
  }

  #writeAlone(datasetId: number, upload: Upload, mode: WriteMode): Promise<WrittenRecord> {
    return this.#withFile(upload, (file) =>
      this.#ingest(datasetId, upload, mode, ({ ingest }, request) => ingest({ ...request, file }, upload)),
    )
  }

  /** Writes a small upload by itself: without a file of its body and a reader process, if that can be. */
  #writeSmall(datasetId: number, { upload, mode }: SmallWrite): Promise<WrittenRecord> {
    return this.#ingest(datasetId, upload, mode, async ({ ingest }, request) => {
      const made = await ingestHere({ ...request, bodies: [upload.body] })
      return made ?? this.#withFile(upload, (file) => ingest({ ...request, file }, upload))
    })
  }

  async #writeTogether(datasetId: number, writes: readonly SmallWrite[]) {
    const { columns } = await this.#context.versions.current(datasetId)
    const [{ mode, upload }] = writes as [SmallWrite]
    const { uploadOptions } = await this.#context.datasets.get(datasetId)
    // With options of the last upload, each file needs evidence of its own for what it has besides.
    if (columns.length === 0 || withStored(uploadOptions, upload)) return undefined
    let taken: readonly number[] = []
    const accept = (made: MadeContent, t: Handle) => acceptAll(taken.map((index) => writes[index]!))(made, t)
    const { signal: _, ...given } = upload
    const record = await this.#ingest(datasetId, { ...given, accept }, mode, async (jobs, request) => {
      if (request.options) throw new EngineError('invalid_upload', 'Another upload has brought options.')
      const given = { ...request, bodies: writes.map((write) => write.upload.body) }
      const made = (await ingestHere(given)) ?? (await jobs.ingestMany(given))
      taken = made.taken
      return made
    })
    return { record, taken }
  }

  /** Changes a dataset that has rows of its own. @throws EngineError `saved_query`, `not_found`, `cancelled` */
  #change<T>(datasetId: number, work: () => Promise<T>): Promise<T> {
    return this.#writes.run(() => this.#context.datasets.requireStored(datasetId).then(work))
  }

  /** Reads an upload as `write` does, into a file that the caller removes. */
  preview(
    upload: Upload,
    { beginning, mode = 'replace' }: PreviewOptions,
    datasetId: number | undefined,
  ): Promise<IngestResult & { readonly file: string }> {
    return this.#writes.run(async () => {
      checkUpload(upload, mode)
      const base = datasetId === undefined ? undefined : await this.#context.versions.current(datasetId)
      const target = join(this.#context.storage.mark.temporary, `preview-${++this.#spooled}.parquet`)
      const { jobs } = await this.#context.ingestor()
      return this.#withFile(upload, async (file) => {
        const stored = datasetId === undefined ? undefined : await this.#context.datasets.get(datasetId)
        const options = withStored(stored?.uploadOptions, upload)
        const request = { ...this.#request({ upload, options, mode, base }, target), file, beginning }
        const read = withoutMarks(await readAsBefore(upload, options, () => jobs.ingest(request, upload)))
        return { ...read, options: usedOptions(upload, options, read), file: target }
      })
    })
  }

  #request(read: Reading, target: string): Omit<IngestRequest, 'file'> {
    return { ...requestOf(read), target, limits: this.#context.uploadLimits }
  }

  /** Does something with the file of an upload, whose body is written to one first. */
  async #withFile<T>(upload: Upload, work: (file: string) => Promise<T>): Promise<T> {
    const { body, signal } = upload
    if ('file' in body) {
      await requireFile(body.file)
      return work(body.file)
    }
    // Starts a reader while the body still arrives.
    this.#context.ingestor().then(
      (ingestor) => ingestor.warm(),
      () => {},
    )
    const file = join(this.#context.storage.mark.temporary, `upload-${++this.#spooled}`)
    const { events, uploadLimits } = this.#context
    await spool(body instanceof Uint8Array ? [body] : body, file, { bytes: uploadLimits.bytes, signal })
    try {
      return await work(file)
    } finally {
      // Its rows are in or refused by now, so this is only reported: the file takes room until the next start.
      const message = 'The body of an upload could not be removed; the next start removes it.'
      await rm(file, { force: true }).catch((cause) => events.tell('file_left', message, { cause }))
    }
  }

  /** @param read makes a part of the rows, mostly in a reader process; a job waits for a slot */
  async #ingest(
    datasetId: number,
    upload: Upload,
    mode: WriteMode,
    read: (jobs: Jobs, request: Omit<IngestRequest, 'file'>) => Promise<IngestResult>,
  ): Promise<WrittenRecord> {
    for (;;) {
      const base = await this.#context.versions.current(datasetId)
      const anew = mode === 'replace' && upload.replaceColumns === true
      const { uploadOptions } = await this.#context.datasets.get(datasetId)
      const options = withStored(uploadOptions, upload)
      const request = (target: string) => this.#request({ upload, options, mode, base }, target)
      const ingested = this.#context.commits.makeParts((jobs, target) => read(jobs, request(target)), upload)
      const made = withoutMarks(await readAsBefore(upload, options, () => ingested))
      const edits = await this.#edits(base, made, upload, mode)
      let { columns } = made
      const done = await this.#commitEdits(datasetId, made.parts, edits, upload, async (current, t) => {
        // Files may have been attached meanwhile.
        requireOwnFiles(datasetId, current)
        // If the columns changed while the rows were read, the rows are read again with the new columns.
        const isOther = !anew && !sameColumns(current.columns, base.columns)
        if (isOther || String(current.key) !== String(base.key)) return undefined
        const none = { parts: [], count: current.rows }
        const all = { parts: current.parts, count: 0 }
        const stored = mode === 'replace' ? none : edits ? edits.changed(current.parts) : all
        if (!stored) return 'again'
        const added = ('filled' in stored && stored.filled) || made.parts
        const parts = [...stored.parts, ...added.filter(({ rows }) => rows > 0)]
        const { columns: declared = [] } = upload
        if (anew) columns = keepDescriptions(keepDescriptions(made.columns, current.columns), declared)
        const replacesMost = mode !== 'append' && stored.count >= current.rows / 2
        const emptied = replacesMost && upload.missing === undefined ? emptiedIn(added, columns, current) : []
        await this.#accept(datasetId, { columns, parts }, upload, t, { emptied })
        const read = storedAfter(uploadOptions, made.format ?? upload.format, options, made.options)
        await this.#context.datasets.in(t).noteUploadOptions(datasetId, read)
        if (made.metadata) await this.#context.datasets.in(t).fill(datasetId, made.metadata)
        const { by, note, isRefresh } = upload
        const changed = { addedRows: rowsOf(made.parts), removedRows: stored.count }
        return { columns, parts, change: { by, note, operation: isRefresh ? 'refresh' : mode, ...changed } }
      })
      if (done) {
        this.#mergeLater(datasetId)
        const read = { ...made, columns, options: usedOptions(upload, options, made) }
        return explained(await this.#context.datasets.get(datasetId), read, upload.words)
      }
    }
  }

  /**
   * How an upload changes the parts that there are, by its keys or by columns that it adds; undefined if it doesn't.
   * @throws EngineError `duplicate_key`, `column_conflict`
   */
  async #edits(base: Version, made: MadeParts, { on, signal, missing }: Upload, mode: WriteMode) {
    const { parts, columns } = made
    try {
      const key = keyOf(base, mode, on)
      const isWider = mode !== 'replace' && base.columns.length > 0 && columns.length > base.columns.length
      if (isWider) manifestChange(base.columns, checkColumns(columns))
      const oldColumns = isWider ? base.columns.length : undefined
      const filled = parts.filter(({ rows }) => rows > 0)
      if (key.length === 0 || filled.length === 0)
        return isWider ? new Edits(this.#context, columns, addingColumns(base.columns.length)) : undefined
      const positions = keyPositions(key, columns)
      await requireDistinct(this.#context, filled, columns, positions, { signal })
      if (mode === 'replace') return undefined
      const lacks = (made.unnamed?.all.length ?? 0) + (made.unnamed?.some.length ?? 0) > 0
      const keeps = mode === 'upsert' && missing === undefined && lacks && base.columns.length > 0
      const rest = { refuse: mode === 'append', unnamed: keeps ? made.unnamed : undefined, oldColumns }
      return new Edits(this.#context, columns, editByKey(filled, columns, positions, rest))
    } catch (error) {
      await this.#context.commits.discard(parts)
      throw error
    }
  }

  /** Prepares edits for the current version, and commits; again if there is another one then. Leaves nothing if it fails. */
  async #commitEdits(
    datasetId: number,
    made: readonly Part[],
    edits: Edits | undefined,
    options: WriteOptions,
    content: Parameters<Commits['commit']>[2],
  ): Promise<boolean> {
    const { commits, members } = this.#context
    for (;;) {
      try {
        using lease = edits && (await members.take(datasetId))
        if (lease) await edits.prepare(lease.version, options)
      } catch (error) {
        await commits.discard([...made, ...edits!.made])
        throw error
      }
      const done = await commits.commit(datasetId, [...made, ...(edits?.made ?? [])], content)
      if (done !== 'again') return done
    }
  }

  /** Deletes rows, or sets columns of them: those that a plan for the columns finds. */
  edit(datasetId: number, plan: PlanEdit, options: WriteOptions): Promise<EditedRows> {
    return this.#change(datasetId, async () => {
      for (;;) {
        const base = await this.#context.versions.current(datasetId)
        requireOwnFiles(datasetId, base)
        const planned = await plan(base)
        const { instead } = planned
        const edits = new Edits(this.#context, base.columns, planned)
        let edited: EditedRows | undefined
        await this.#commitEdits(datasetId, instead?.made ?? [], edits, options, async (current, t) => {
          requireOwnFiles(datasetId, current)
          const isOther =
            !sameColumns(current.columns, base.columns) || (instead && instead.base !== current.id)
          if (isOther || String(current.key) !== String(base.key)) return undefined
          const changed = edits.changed(current.parts)
          if (!changed) return 'again'
          const count = instead?.rows ?? changed.count
          const parts = [...changed.parts, ...(instead?.parts ?? []).filter(({ rows }) => rows > 0)]
          edited = { version: current.number + Math.min(count, 1), matchedRows: count }
          await this.#accept(datasetId, { columns: base.columns, parts }, options, t, { edited })
          if (count === 0) return undefined
          return { columns: base.columns, parts, change: changeOf(planned, changed.count, options) }
        })
        if (!edited) continue
        this.#mergeLater(datasetId)
        return edited
      }
    })
  }

  #mergeLater(datasetId: number): void {
    const { events, members, background } = this.#context
    background.later(
      () => members.assign({ kind: 'merge', subject: datasetId }),
      (cause) => events.tell('merge_failed', 'Parts could not be merged.', { dataset: datasetId, cause }),
    )
  }

  /** Declares the columns of which no two rows have the same values; none for no key. */
  declareKey(datasetId: number, key: readonly string[], options: DeclareOptions): Promise<DatasetRecord> {
    return this.#declare(datasetId, options, async ({ columns, parts }) => {
      requireOwnFiles(datasetId, { parts })
      const on = keyPositions(key, columns)
      if (on.length > 0) await requireDistinct(this.#context, parts, columns, on, options)
      return { columns, key }
    })
  }

  /** Declares the columns: any columns while there are no rows, afterwards only changes that lose no data. */
  declareColumns(
    datasetId: number,
    declared: readonly DeclaredColumn[],
    options: DeclareOptions,
  ): Promise<DatasetRecord> {
    const { commits, integrity } = this.#context
    return this.#declare(datasetId, options, async ({ columns: old, key, parts }) => {
      requireOwnFiles(datasetId, { parts })
      const columns = checkColumns(declared)
      const kind = parts.length > 0 ? manifestChange(old, columns) : 'describe'
      keyPositions(key, columns)
      if (sameColumns(old, columns)) return undefined
      if (kind !== 'rewrite') return { columns, key }
      const made = await commits.rewriteParts(integrity, parts, old, columns, options)
      return { columns, key, made: made.parts }
    })
  }

  /** Writes down words about columns. Whatever `accept` changes is changed with them, even if the words are there already. */
  describeColumns(
    datasetId: number,
    descriptions: readonly ColumnDescription[],
    options: DeclareOptions,
  ): Promise<DatasetRecord> {
    return this.#declare(datasetId, options, async ({ columns, key }) => ({
      columns: withDescriptions(columns, descriptions),
      key,
    }))
  }

  /**
   * Commits what is declared for the current version; again if there is another one then.
   * @param prepare gives undefined where nothing changes
   */
  #declare(
    datasetId: number,
    { signal: _, accept, ...author }: DeclareOptions,
    prepare: (
      base: Version,
    ) => Promise<(Pick<Version, 'columns' | 'key'> & { readonly made?: readonly Part[] }) | undefined>,
  ): Promise<DatasetRecord> {
    const { datasets, members, commits } = this.#context
    return this.#change(datasetId, async () => {
      for (let isDone = false; !isDone; ) {
        using lease = await members.take(datasetId)
        const base = lease.version
        const prepared = await prepare(base)
        if (!prepared) break
        const { made, columns, key } = prepared
        const content = async (current: Version, t: Handle) => {
          if (current.id !== base.id) return undefined
          await accept?.(await datasets.in(t).get(datasetId), t)
          isDone = true
          if (sameColumns(base.columns, columns) && String(base.key) === String(key)) return undefined
          const change = { ...author, operation: 'columns', addedRows: 0, removedRows: 0 } as const
          return { columns, key, parts: made ?? base.parts, change }
        }
        await commits.commit(datasetId, made ?? [], content, { more: accept !== undefined })
      }
      return datasets.get(datasetId)
    })
  }

  async #accept(
    datasetId: number,
    { columns, parts }: Content,
    { accept }: WriteOptions,
    t: Handle,
    more: Pick<MadeContent, 'edited' | 'emptied'> = {},
  ): Promise<void> {
    if (accept === undefined) return
    const bytes = await this.#context.history.in(t).bytesWith(datasetId, parts)
    await accept({ columns: columns.length, rows: rowsOf(parts), bytes, ...more }, t)
  }

  /** Makes the content of a past version current again. @param take leases that version */
  restore(datasetId: number, take: () => Promise<Lease>, options: WriteOptions): Promise<DatasetRecord> {
    return this.#change(datasetId, async () => {
      using lease = await take()
      const { columns, key, parts, rows, number } = lease.version
      const { by, note = `Version ${number}, restored.` } = options
      await this.#context.commits.commit(datasetId, [], async (current, t) => {
        await this.#accept(datasetId, { columns, parts }, options, t)
        const { adds, removes } = await this.#context.history.in(t).wayBack(datasetId, number)
        const addedRows = Math.min(adds ?? rows, rows)
        const removedRows = Math.min(removes ?? current.rows, current.rows)
        return { columns, key, parts, change: { by, note, operation: 'restore', addedRows, removedRows } }
      })
      return await this.#context.datasets.get(datasetId)
    })
  }
}
