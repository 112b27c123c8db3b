import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Handle } from '../catalog/database.ts'
import type { Datasets } from '../catalog/datasets.ts'
import type { DatasetRecord, Part, Version } from '../catalog/records.ts'
import type { Versions } from '../catalog/versions.ts'
import type { Events } from '../events.ts'
import { Arriving, type EarlyReading } from '../ingest/early.ts'
import type { Ingestor } from '../ingest/index.ts'
import { spool } from '../ingest/spool.ts'
import { checkColumns, type DeclaredColumn, manifestChange, sameColumns } from '../types/columns.ts'
import type { Background } from '../util/background.ts'
import { UnderWay } from '../util/under-way.ts'
import type { Commits } from './commits.ts'
import type { Integrity } from './integrity/integrity.ts'
import type { Membership } from './membership/membership.ts'
import { checkUpload, type DeclareOptions, ingestRequest, type Upload, type UploadLimits } from './upload.ts'

/** What a writer needs of the store. */
export interface WriterPlace {
  readonly datasets: Datasets
  readonly versions: Versions
  readonly commits: Commits
  readonly members: Membership
  readonly integrity: Integrity
  readonly background: Background
  readonly events: Events
  readonly uploadLimits: UploadLimits
  /** A folder for bodies while they arrive. */
  readonly temporary: string
  ingestor(): Promise<Ingestor>
}

/** Makes new versions: by uploads, and by declared columns. */
export class Writer {
  readonly #place: WriterPlace
  readonly #writes = new UnderWay()
  #spooled = 0

  constructor(place: WriterPlace) {
    this.#place = place
  }

  /** Refuses new writes; resolves when the writes under way are done. */
  end(): Promise<void> {
    return this.#writes.end()
  }

  /** Replaces a dataset's rows by those of an upload, or appends them: all of them or, if it fails, none. */
  write(datasetId: number, upload: Upload, mode: 'replace' | 'append'): Promise<DatasetRecord> {
    return this.#writes.run(() => this.#write(datasetId, upload, mode))
  }

  async #write(datasetId: number, upload: Upload, mode: 'replace' | 'append'): Promise<DatasetRecord> {
    checkUpload(upload)
    await this.#place.datasets.get(datasetId)
    const { body, signal } = upload
    if ('file' in body) return this.#ingest(datasetId, body.file, upload, mode)
    // Starts a reader while the body still arrives.
    this.#place.ingestor().then(
      (ingestor) => ingestor.warm(),
      () => {},
    )
    const file = join(this.#place.temporary, `upload-${++this.#spooled}`)
    using arriving = this.#arriving(datasetId, file, upload)
    const { bytes } = this.#place.uploadLimits
    await spool(body, file, { bytes, signal, onWritten: (written) => arriving?.reached(written) })
    try {
      return await this.#ingest(datasetId, file, upload, mode, await arriving?.whole())
    } finally {
      await this.#removeBody(file)
    }
  }

  /**
   * Removes the copy of a body. By now its rows are in or refused, so a failure here is only reported: the file takes
   * room until the next start removes it.
   */
  async #removeBody(file: string): Promise<void> {
    try {
      await rm(file, { force: true })
    } catch (cause) {
      this.#place.events.tell(
        'file_left',
        'The body of an upload could not be removed; the next start removes it.',
        { cause },
      )
    }
  }

  /** For csv and tsv, starts to scan as soon as enough of the body has arrived. */
  #arriving(datasetId: number, file: string, upload: Upload): Arriving | undefined {
    const asIs = !upload.gzip && upload.options === undefined
    if (!asIs || !(upload.format === 'csv' || upload.format === 'tsv')) return undefined
    return new Arriving(async () => {
      const ingestor = await this.#place.ingestor()
      const columns = upload.replaceColumns ? [] : (await this.#place.versions.current(datasetId)).columns
      const { signal, onProgress, ...input } = ingestRequest(file, upload, columns)
      return ingestor.scanEarly(input, { signal, onProgress })
    })
  }

  async #ingest(
    datasetId: number,
    file: string,
    upload: Upload,
    mode: 'replace' | 'append',
    early?: EarlyReading,
  ): Promise<DatasetRecord> {
    for (;;) {
      const base = await this.#place.versions.current(datasetId)
      const anew = mode === 'replace' && upload.replaceColumns === true
      const request = ingestRequest(file, upload, anew ? [] : base.columns)
      const limits = { unpackedBytes: this.#place.uploadLimits.unpackedBytes }
      const made = await this.#place.commits.makeParts(
        (ingestor, target) => ingestor.ingest({ ...request, target, limits }, early),
        upload,
      )
      const done = await this.#place.commits.commit(datasetId, made.parts, async (current, t) => {
        // If the columns changed while the rows were read, the rows are read again with the new columns.
        if (!anew && !sameColumns(current.columns, base.columns)) return undefined
        const kept = mode === 'append' ? current.parts : []
        const parts = [...kept, ...made.parts.filter(({ rows }) => rows > 0)]
        const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
        await upload.accept?.({ columns: made.columns.length, bytes }, t)
        return { columns: made.columns, parts }
      })
      if (done) {
        this.#mergeLater(datasetId)
        return this.#place.datasets.get(datasetId)
      }
    }
  }

  #mergeLater(datasetId: number): void {
    const { events, members, background } = this.#place
    background.later(
      () => members.assign({ kind: 'merge', subject: datasetId }),
      (cause) => events.tell('merge_failed', 'Parts could not be merged.', { dataset: datasetId, cause }),
    )
  }

  /** Declares the columns: any columns while there are no rows, afterwards only changes that lose no data. */
  declareColumns(
    id: number,
    columns: readonly DeclaredColumn[],
    options: DeclareOptions,
  ): Promise<DatasetRecord> {
    return this.#writes.run(() => this.#declareColumns(id, columns, options))
  }

  async #declareColumns(
    datasetId: number,
    declared: readonly DeclaredColumn[],
    { signal, accept }: DeclareOptions,
  ) {
    const columns = checkColumns(declared)
    const show = (base: Version, parts: readonly Part[]) => async (current: Version, t: Handle) => {
      if (current.id !== base.id) return undefined
      await accept?.(await this.#place.datasets.in(t).get(datasetId), t)
      return { columns, parts }
    }
    for (;;) {
      const base = await this.#place.versions.current(datasetId)
      const change = base.parts.length > 0 ? manifestChange(base.columns, columns) : 'describe'
      if (sameColumns(base.columns, columns)) return this.#place.datasets.get(datasetId)
      if (change !== 'rewrite') {
        const done = await this.#place.commits.commit(datasetId, [], show(base, base.parts))
        if (done) return this.#place.datasets.get(datasetId)
        continue
      }
      const lease = await this.#place.members.take(datasetId)
      try {
        if (lease.version.id !== base.id) continue
        using _ = await this.#place.integrity.pinWhole(base.parts, signal)
        const files = base.parts.map((part) => this.#place.integrity.file(part))
        const made = await this.#place.commits.makeParts(
          (ingestor, target) =>
            ingestor
              .rewrite(files, target, base.columns, columns, { signal })
              .then((result) => ({ ...result, columns })),
          { signal },
        )
        const done = await this.#place.commits.commit(datasetId, made.parts, show(base, made.parts))
        if (done) return this.#place.datasets.get(datasetId)
      } finally {
        lease.release()
      }
    }
  }
}
