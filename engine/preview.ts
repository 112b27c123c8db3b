import { rm } from 'node:fs/promises'
import { type Words, warningsIn } from './errors.ts'
import { type Contents, contentsOf } from './ingest/contents.ts'
import type { Choice, IngestResult, UploadOptions } from './ingest/request.ts'
import { type ExplainedColumn, explainedColumns } from './ingest/text/errors.ts'
import { readParts } from './parquet/read-parts.ts'
import { physicalColumns, type QueryOptions } from './plan/plan.ts'
import { Query } from './query.ts'
import { Reading } from './reading/reading.ts'
import type { QueryContext } from './reading/runs.ts'
import type { Queryable } from './snapshot.ts'

/** An upload that was read and not stored. It can be queried like a dataset until it is disposed. */
export class Preview implements Queryable, AsyncDisposable {
  readonly columns: readonly ExplainedColumn[]
  readonly rowCount: number
  /** The options that `dialect: 'auto'` has chosen. */
  readonly options: UploadOptions | undefined
  /** By which values. */
  readonly why: readonly Choice[] | undefined
  /** What the file holds, and what of it was read. */
  readonly contents: Contents
  /** What may be wrong with values that could be read, as sentences. */
  readonly warnings: readonly string[]
  /** The options that the warnings name, in their order, as in a query string. */
  readonly hints: readonly string[] | undefined
  readonly #file: string
  readonly #context: QueryContext

  /** Use `engine.preview(upload)`. */
  constructor(
    {
      file,
      columns,
      reasons,
      rows,
      rawBytes,
      options,
      why,
      warnings = [],
      ...contents
    }: IngestResult & { readonly file: string },
    context: Pick<QueryContext, 'executor' | 'counts'>,
    words?: Words,
  ) {
    this.columns = explainedColumns(columns, reasons, words)
    this.rowCount = rows
    this.options = options
    this.why = why
    this.contents = contentsOf(contents)
    const worded = warningsIn(warnings, words)
    this.warnings = worded.warnings
    this.hints = worded.hints
    this.#file = file
    this.#context = {
      executor: context.executor,
      counts: context.counts,
      identity: file,
      reading: (plan) => new Reading(plan),
      source: {
        columns: physicalColumns(columns),
        rows,
        rowBytes: rows === 0 ? 0 : Math.ceil(rawBytes / rows),
        scan: (from, to) => ({
          kind: 'foreign',
          sql:
            `(SELECT *, file_index, file_row_number FROM ${readParts([file])} ` +
            `WHERE file_row_number >= ${from} AND file_row_number < ${Math.min(to, rows)})`,
        }),
      },
    }
  }

  /** @throws EngineError what is wrong with the options; see `Query` */
  query(options: QueryOptions = {}): Query {
    return new Query(this.#context, options)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#file, { force: true })
  }
}
