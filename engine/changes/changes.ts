import type { Part, Version } from '../catalog/records.ts'
import { invalidOption } from '../errors.ts'
import type { QueryOptions } from '../plan/options.ts'
import { Query } from '../query.ts'
import type { QueryContext } from '../reading/runs.ts'
import type { Lease } from '../store/membership/membership.ts'
import type { Store } from '../store/store.ts'
import type { Column } from '../types/index.ts'
import { once } from '../util/lazy.ts'
import { ChangesReading, Compared, changesSql, isCompared, type Step } from './compared.ts'

/** The versions after `since` up to `until`; without it, up to the newest. */
export interface ChangesRange {
  readonly since: number
  readonly until?: number | undefined
}

/** The most versions that are compared in one query. */
const MOST_STEPS = 100
/** What the columns have in common that say what happened to a row. */
const META = { nullable: false, description: '' } as const

/**
 * The rows that were inserted, deleted and updated from one version of a dataset to another, version by version. It can
 * be queried like a dataset until it is disposed. The first two columns say what happened to a row and in which version.
 *
 * Rows in parts that two versions share have not changed, and an append has only new rows. Otherwise the rows of the
 * other parts are compared as multisets: a group of equal rows is inserted or deleted as often as their number differs.
 * If there is a key, a row deleted and a row inserted with the same key are one updated row.
 */
export class Changes implements Disposable {
  /** The version up to which changes are given, from which to go on. */
  readonly next: number
  /** There can't be more changes than this. */
  readonly mostRows: number
  readonly #leases: readonly Lease[]
  readonly #context: QueryContext
  /** Where rows have to be compared. */
  readonly #compared: Compared | undefined
  #users = 1

  private constructor(
    leases: readonly Lease[],
    steps: readonly Step[],
    store: Store,
    datasetId: number,
    since: number,
    place: Pick<QueryContext, 'executor' | 'counts'>,
  ) {
    this.#leases = leases
    const newest = leases.at(-1)!.version
    this.next = newest.number
    const parts = [...new Map(steps.flatMap(partsOf).map((part) => [part.id, part])).values()]
    this.mostRows = steps.reduce((sum, step) => sum + rowsOf(step), 0)
    // The version before the first upload, which may have been restored, has no columns.
    const { columns: shown } = leases.findLast(({ version }) => version.columns.length > 0)?.version ?? newest
    const meta = ['_change', '_version'].map((name) => unusedName(name, shown))
    const columns: Column[] = [
      { ...META, name: meta[0]!, type: 'string' },
      { ...META, name: meta[1]!, type: 'integer' },
      ...shown,
    ]
    const fileOf = (part: Part) => store.integrity.file(part)
    const sql = changesSql(steps, shown, fileOf)
    const rowBytes = newest.rows === 0 ? 0 : Math.ceil(newest.rawBytes / newest.rows)
    if (steps.some(isCompared)) {
      const size = { rows: this.mostRows, rawBytes: this.mostRows * rowBytes }
      this.#compared = new Compared(store, { parts: parts.map(fileOf), relation: sql, columns, size })
    }
    this.#context = {
      ...place,
      identity: `${datasetId}.${since}-${this.next}`,
      reading: (plan) => new ChangesReading(plan, parts, store, this.#enter(), this.#compared),
      source: {
        columns: columns.map(({ name, type }, index) => ({ name, type, sql: `c${index}` })),
        rows: steps.length === 0 ? 0 : undefined,
        rowBytes,
        scan: () => ({ kind: 'foreign', sql }),
      },
    }
  }

  /** @throws EngineError `invalid_option`, `not_found`, `version_gone` */
  static async open(
    store: Store,
    datasetId: number,
    { since, until = Number.MAX_SAFE_INTEGER }: ChangesRange,
    place: Pick<QueryContext, 'executor' | 'counts'>,
  ): Promise<Changes> {
    if (until < since) throw invalidOption(`until is ${until}, but since is ${since}.`)
    const { version: newest } = await store.datasets.get(datasetId)
    if (until !== Number.MAX_SAFE_INTEGER) await store.history.find(datasetId, { version: until })
    const leases: Lease[] = []
    try {
      leases.push(await store.readPast(datasetId, { version: since }))
      const last = Math.min(until, newest, since + MOST_STEPS)
      const steps: Step[] = []
      for (let number = since + 1; number <= last; number++) {
        const before = leases.at(-1)!.version
        const lease = await store.readPast(datasetId, { version: number })
        leases.push(lease)
        const { operation } = await store.history.get(datasetId, { version: number })
        const step = stepTo(before, lease.version, operation === 'append')
        if (step) steps.push(step)
      }
      return new Changes(leases, steps, store, datasetId, since, place)
    } catch (error) {
      for (const lease of leases) lease[Symbol.dispose]()
      throw error
    }
  }

  /** @throws EngineError what is wrong with the options; see `Query` */
  query(options: QueryOptions = {}): Query {
    const release = this.#enter()
    try {
      return new Query({ ...this.#context, release }, options)
    } catch (error) {
      release()
      throw error
    }
  }

  readonly [Symbol.dispose] = once(() => this.#leave())

  #enter(): () => void {
    this.#users += 1
    return once(() => this.#leave())
  }

  #leave(): void {
    this.#users -= 1
    if (this.#users > 0) return
    this.#compared?.[Symbol.dispose]()
    for (const lease of this.#leases) lease[Symbol.dispose]()
  }
}

/** What a version changed; undefined if it has the same rows as the one before. */
function stepTo(before: Version, after: Version, isAppend: boolean): Step | undefined {
  if (isAppend && after.rows >= before.rows) {
    if (after.rows === before.rows) return undefined
    return { before, after, removed: [], added: after.parts, from: before.rows }
  }
  const without = (parts: readonly Part[], others: readonly Part[]) => {
    const ids = new Set(others.map(({ id }) => id))
    return parts.filter(({ id }) => !ids.has(id))
  }
  const removed = without(before.parts, after.parts)
  const added = without(after.parts, before.parts)
  return removed.length + added.length === 0 ? undefined : { before, after, removed, added }
}

const partsOf = ({ removed, added }: Step) => [...removed, ...added]

function rowsOf({ after, removed, added, from }: Step): number {
  if (from !== undefined) return after.rows - from
  return [...removed, ...added].reduce((sum, { rows }) => sum + rows, 0)
}

function unusedName(name: string, columns: readonly Column[]): string {
  return columns.some((column) => column.name === name) ? unusedName(`_${name}`, columns) : name
}
