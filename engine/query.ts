import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { RecordBatch } from 'apache-arrow'
import { invalidOption, type Words } from './errors.ts'
import { type ByteStream, guarded } from './export/byte-stream.ts'
import { choose, strategyText } from './export/choose.ts'
import { nothingIn } from './export/encode.ts'
import type { EncodeOptions } from './export/formats/encoder.ts'
import { objectMaker } from './export/index.ts'
import { pageOf } from './export/pages.ts'
import { etagOf, type Plan, planQuery, type QueryOptions, resultRows } from './plan/plan.ts'
import { analyse, explanation, NOTHING_READ, partsRead } from './reading/explain.ts'
import type { Explanation } from './reading/explanation.ts'
import { hintFor } from './reading/hint.ts'
import {
  type BytesOptions,
  checkBytes,
  encodingOf,
  type QueryContext,
  type RunOptions,
  Runs,
} from './reading/runs.ts'
import { type DatasetMetadata, metadataIn } from './types/file-metadata.ts'
import { type Format, holdsMetadata } from './types/index.ts'
import { writeWhole } from './util/whole-file.ts'

/**
 * One query, from text to rows:
 *
 *   options ── parse, check ──> plan ── choose ──> strategy ── SQL ──> statement ── run ──> batches ── encode ──> bytes
 *
 * The constructor parses the filter, checks columns and options, and plans, all without touching the data: mistakes of
 * the user are thrown here. The query may be run more than once. Until it is disposed, it sees the version of the
 * dataset that was current when it was made.
 */
export class Query implements Disposable {
  /** What will be read and done, as plain data. */
  readonly plan: Plan
  /** Changes when the rows or the query change, and reveals nothing about them. */
  readonly etag: string
  /** Whether the same query can give other rows although nothing has changed, as with now(), or random() in SQL. */
  readonly volatile: boolean
  readonly #context: QueryContext
  readonly #options: QueryOptions
  /** What now() returns in all statements of the query. */
  readonly #now = new Date()
  readonly #runs: Runs

  /** @throws EngineError `invalid_option`, `invalid_columns`, `invalid_filter`, `filter_type_error`, `filter_too_complex` */
  constructor(context: QueryContext, options: QueryOptions = {}) {
    const { source, identity } = context
    this.#context = context
    this.#options = options
    this.plan = planQuery(source, options, { now: this.#now })
    this.volatile = context.volatile === true || this.plan.volatile
    this.etag = etagOf(identity, options, this.plan)
    this.#runs = new Runs(this.plan, context, context.remote?.query(this.plan, source, options, this.#now))
  }

  /** The ids of the datasets that saved queries read for it, with the rights of who saved them. */
  get borrowed(): readonly number[] {
    return this.#context.borrowed ?? []
  }

  /** Whether it reads a statement of SQL, also as a saved query. Its process is free when the rows have been read. */
  get isStatement(): boolean {
    return this.#context.borrowed !== undefined
  }

  /**
   * Names what the query gives in this format: queries of the same key have the same rows unless they are volatile. It
   * doesn't depend on the plan, so `Dataset.key` knows it before the query is made.
   */
  key(format: Format): string {
    const { identity, metadata } = this.#context
    return queryKey(identity, metadata?.dataset, this.#options, format)
  }

  /** Rows that match the filter, before `top`, `last` and `skip`; undefined where rows must be read to know. */
  get knownRowCount(): number | undefined {
    return this.plan.matches
  }

  /** What the filter may have meant, for a result without rows, as a sentence. */
  get hint(): string | undefined {
    return this.plan.pruning && hintFor(this.plan.pruning)
  }

  /** The result can't have more rows than this; undefined where the rows of the source are not known either. */
  get mostRows(): number | undefined {
    return this.plan.most
  }

  /** How many rows the result has when `count` rows match. */
  resultRows(count: number): number {
    return this.plan.result ?? resultRows(this.plan.window, count)
  }

  /**
   * Rows that match the filter, before `top`, `last` and `skip`. They are counted once, even if this is called again or
   * by other queries of the same version.
   */
  count(options: RunOptions = {}): Promise<number> {
    return this.#runs.count(options)
  }

  /** What a file in this format says about the dataset and its columns, as JSON; undefined if it says nothing. */
  metadataIn(format: Format): string | undefined {
    const { metadata } = this.#context
    if (!metadata || !holdsMetadata(format)) return undefined
    return metadataIn(metadata.dataset, this.plan.columns, metadata.columns)
  }

  /** Arrow record batches, owned by JavaScript. In them, uuid and json are Utf8, which every program shows. */
  async *batches(options: RunOptions = {}): AsyncGenerator<RecordBatch, void, undefined> {
    if (this.plan.columns.length === 0) return
    await using stream = await this.bytes('arrow', { ...options, plainTypes: true })
    // Loading apache-arrow takes a while, and most queries don't end as record batches.
    const { RecordBatchReader } = await import('apache-arrow')
    yield* await RecordBatchReader.from(stream)
  }

  /**
   * Rows as plain objects. `integer` is a number where that is exact, else a bigint; `boolean` and `double` are
   * themselves, `binary` is a Uint8Array; everything else is the text that csv has for it.
   */
  async *rows(options: RunOptions = {}): AsyncGenerator<Record<string, unknown>, void, undefined> {
    const strategy = this.#runs.choose('rows')
    if (strategy.kind === 'nothing') return
    const all = await this.#runs.run(strategy, options, async ({ executor, statement, start, reading }) =>
      guarded(executor.values(statement, start), reading),
    )
    const asObject = objectMaker(this.plan.columns.map((column) => column.name))
    for await (const some of all) for (const row of some) yield asObject(row)
  }

  /**
   * The rows in a format, as bytes. The caller pulls them: no more than some buffers are read ahead. Leaving the loop
   * ends the query.
   * @throws EngineError before the first byte: `invalid_option` where options don't fit the format, `not_representable`
   * where the format can't hold a value
   */
  async bytes(format: Format, options: BytesOptions = {}): Promise<ByteStream> {
    checkBytes(format, options)
    const { signal, overlong } = options
    const strategy = this.#runs.choose(format, options)
    if (strategy.kind === 'nothing') return nothingIn(format)
    const counting = strategy.kind === 'buffered' && strategy.counting
    // Where the rows are not counted while they are read, that is done beside the reading.
    const beside = counting ? undefined : this.#runs.matches(options)
    return this.#runs.run(strategy, options, async ({ executor, statement, start, matches, reading }) => {
      let textColumns: ReadonlySet<number> | undefined
      if (format === 'xlsx') {
        const { requireSheet } = await import('./export/formats/xlsx/limits.ts')
        textColumns = await requireSheet(statement, overlong, (check) => executor.rows(check, { signal }))
      }
      const isPage = strategy.kind === 'stream' && strategy.paged
      const rows = { ...this.#context, now: this.#now, hold: () => reading.hold() }
      const page = isPage ? pageOf(this.plan, rows, this.#options, format) : undefined
      const encoding = encodingOf(options, strategy, this.metadataIn(format), textColumns)
      const stream = await executor.bytes(statement, format, { ...start, page }, encoding)
      // A number is remembered only if it is that of the rows that were written.
      if (strategy.kind === 'buffered') await reading.whole?.()
      if (counting) this.#runs.found(matches ?? (await stream.matches))
      return stream.guard(reading, { matches: beside ?? this.#runs.matches(options) })
    })
  }

  /**
   * Writes a file, which appears under its name only when it is whole.
   * @throws EngineError as `bytes` does, and `invalid_option` if there is no such folder
   */
  async toFile(
    path: string,
    format: Format,
    options: RunOptions & EncodeOptions = {},
  ): Promise<{ rows: number; bytes: number }> {
    // Before anything is waited for, so that a query may be disposed as soon as this was called.
    await using stream = await this.bytes(format, options)
    await requireFolder(dirname(path))
    const bytes = await writeWhole(path, stream, (piece) => stream.recycle(piece))
    return { rows: stream.rows(), bytes }
  }

  /**
   * Where there is another database, whether it reads the rows and why; how many parts are read, and how many of them
   * by ranges; how a format is written; and DuckDB's plan of the SQL, which shows columns and filters of the scan.
   */
  async explain(format: Format = 'csv'): Promise<string> {
    const chosen = `Strategy: ${strategyText(this.#runs.choose(format))}`
    const strategy = choose(this.plan, 'rows')
    if (strategy.kind === 'nothing') return chosen
    return this.#runs.run(
      { ...strategy, located: false },
      {},
      async ({ executor, statement, plan, reading }) => {
        using _ = reading
        const rows = await executor.rows(explanation(statement))
        return [this.#runs.remote?.explain(), partsRead(plan), chosen, ...rows.map((row) => row[1])]
          .filter((line) => line !== undefined)
          .join('\n')
      },
    )
  }

  /**
   * Runs the query without giving its rows, and tells what was read and what each step took.
   * @param words how the verdict names options of a query string; by default as options are written here
   */
  async analyse(
    format: Format = 'csv',
    { words, ...options }: RunOptions & { readonly words?: Words } = {},
  ): Promise<Explanation> {
    const chosen = strategyText(this.#runs.choose(format))
    const strategy = choose(this.plan, 'rows')
    const columns = this.plan.columns.map(({ name, type }) => ({ name, type }))
    if (strategy.kind === 'nothing') return { ...NOTHING_READ, strategy: chosen, columns }
    return this.#runs.run({ ...strategy, remote: false }, options, async (run) => {
      using _ = run.reading
      const { refresh } = this.#context
      const told = await analyse(run, format, chosen, this.#runs.remote?.explain(), words)
      return { ...told, columns, ...(refresh && { refresh }) }
    })
  }

  /** Releases the version that the query reads. What was begun goes on. */
  [Symbol.dispose](): void {
    this.#context.release?.()
  }
}

async function requireFolder(path: string): Promise<void> {
  const isFolder = await stat(path)
    .then((found) => found.isDirectory())
    .catch(() => false)
  if (!isFolder) throw invalidOption(`There is no folder ${JSON.stringify(path)}.`)
}

/** @param metadata what is written down about the dataset; what is about columns belongs to the version */
export function queryKey(
  identity: string,
  metadata: DatasetMetadata | undefined,
  options: QueryOptions,
  format: Format,
): string {
  const said = metadata && holdsMetadata(format) ? metadataIn(metadata, [], []) : undefined
  const sorted = Object.entries(options).sort(([one], [other]) => (one < other ? -1 : 1))
  return `${identity} ${format} ${JSON.stringify([sorted, said])}`
}
