import { rmSync } from 'node:fs'
import type { Part } from '../catalog/records.ts'
import { type CompareInput, widened } from '../ingest/parts/parts.ts'
import { readParts } from '../parquet/read-parts.ts'
import { type PartsContext, PartsReading } from '../parts-reading.ts'
import type { Plan, QueryOptions } from '../plan/plan.ts'
import { Query } from '../query.ts'
import type { QueryContext } from '../reading/runs.ts'
import type { Lease } from '../store/membership/membership.ts'
import type { Store } from '../store/store.ts'
import { widens } from '../types/columns.ts'
import { type Column, sqlType } from '../types/index.ts'
import { Users } from '../util/shared.ts'
import { TemporaryFile } from '../util/whole-file.ts'

export type ReadingContext = Pick<QueryContext, 'executor' | 'counts'>

/** Rows that several versions have together, as SQL over their parts. */
interface FoundRows {
  /** Names the rows, which never change. */
  readonly identity: string
  readonly columns: readonly Column[]
  readonly parts: readonly Part[]
  /** A relation with c0, c1 … in the order of `file_index` and `file_row_number`. */
  readonly sql: string
  /** There can't be more rows. */
  readonly most: number
  /** Whether rows have to be compared, which takes a process of its own. */
  readonly isCompared: boolean
  readonly isEmpty: boolean
}

/** Rows found in several versions of a dataset. They can be queried like a dataset until this is disposed. */
export class PastRows implements Disposable {
  readonly #leases: readonly Lease[]
  readonly #context: QueryContext
  readonly #compared: Compared | undefined
  readonly #users = new Users(() => this.#end())
  readonly [Symbol.dispose] = this.#users.enter()

  /** Takes over the leases, of which the last is that of the newest version, and releases them. */
  protected constructor(leases: readonly Lease[], store: Store, context: ReadingContext, found: FoundRows) {
    this.#leases = leases
    const { identity, columns, sql, most, isCompared, isEmpty } = found
    const newest = leases.at(-1)!.version
    const parts = [...new Map(found.parts.map((part) => [part.id, part])).values()]
    const rowBytes = newest.rows === 0 ? 0 : Math.ceil(newest.rawBytes / newest.rows)
    if (isCompared) {
      const size = { rows: most, rawBytes: most * rowBytes }
      const files = parts.map((part) => store.integrity.file(part))
      this.#compared = new Compared(store, { parts: files, relation: sql, columns, size })
    }
    // Its caller may know more of places to read, such as another database, which has none of these rows.
    const { executor, counts } = context
    this.#context = {
      executor,
      counts,
      identity,
      reading: (plan) => new PastReading(plan, { parts, store, leave: this.#users.enter() }, this.#compared),
      source: {
        columns: columns.map(({ name, type }, index) => ({ name, type, sql: `c${index}` })),
        rows: isEmpty ? 0 : undefined,
        most,
        rowBytes,
        scan: () => ({ kind: 'foreign', sql }),
      },
    }
  }

  /** @throws EngineError what is wrong with the options; see `Query` */
  query(options: QueryOptions = {}): Query {
    const release = this.#users.enter()
    try {
      return new Query({ ...this.#context, release }, options)
    } catch (error) {
      release()
      throw error
    }
  }

  #end(): void {
    this.#compared?.[Symbol.dispose]()
    for (const lease of this.#leases) lease[Symbol.dispose]()
  }
}

/**
 * Rows that are found by comparing versions. A process of their own compares them once, in little memory,
 * and writes them to a file, which is removed with this.
 */
class Compared implements Disposable {
  readonly #store: Store
  readonly #input: CompareInput
  #writing: Promise<unknown> | undefined

  constructor(store: Store, input: Omit<CompareInput, 'target'>) {
    this.#store = store
    this.#input = { ...input, target: new TemporaryFile(store.temporary).path }
  }

  /** The file, when it is written. The parts must be readable meanwhile. @throws EngineError `storage_full`, `cancelled` */
  async file(signal: AbortSignal | undefined): Promise<string> {
    const compare = async () => (await this.#store.ingestor()).jobs.compare(this.#input, { signal })
    this.#writing ??= compare().catch((error: unknown) => {
      this.#writing = undefined
      throw error
    })
    await this.#writing
    return this.#input.target
  }

  /** Never throws, because versions are released next: a file that can't be removed now is removed at a start. */
  [Symbol.dispose](): void {
    try {
      rmSync(this.#input.target, { force: true })
    } catch {}
  }
}

/** Reads parts, or the file with what was found where rows were compared. */
class PastReading extends PartsReading {
  readonly #compared: Compared | undefined

  constructor(plan: Plan, context: PartsContext, compared: Compared | undefined) {
    super(plan, context)
    this.#compared = compared
  }

  override async ready(_reach: unknown, signal: AbortSignal | undefined): Promise<Plan> {
    await this.pin(this.context.parts, signal)
    if (!this.#compared) return this.plan
    const sql = readParts([await this.#compared.file(signal)])
    return { ...this.plan, scan: { kind: 'foreign', sql } }
  }
}

/** A column as a version has it that may lack it, or have it with another type. */
export function valueSql(columns: readonly Column[], { name, type }: Column): string {
  const index = columns.findIndex((column) => column.name === name)
  const old = columns[index]
  if (!old) return `CAST(NULL AS ${sqlType(type)})`
  if (old.type === type || widens(old.type, type)) return widened(old, type, `c${index}`)
  return `TRY_CAST(CAST(c${index} AS VARCHAR) AS ${sqlType(type)})`
}
