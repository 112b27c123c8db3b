import type { Part, Version } from '../catalog/records.ts'
import { type EngineError, invalidOption } from '../errors.ts'
import { widened } from '../ingest/parts/parts.ts'
import type { QueryOptions } from '../plan/options.ts'
import { type Plan, type PlanColumn, versionSource } from '../plan/plan.ts'
import { Query } from '../query.ts'
import type { QueryContext } from '../query-context.ts'
import { Reading } from '../reading/reading.ts'
import type { Lease } from '../store/membership/leases.ts'
import type { Store } from '../store/store.ts'
import { widens } from '../types/columns.ts'
import { type Column, quoteLiteral, sqlType } from '../types/index.ts'

/** The versions after `since` up to `until`; without it, up to the newest. */
export interface ChangesRange {
  readonly since: number
  readonly until?: number | undefined
}

/** One version and the one before it, and which rows differ. */
interface Step {
  readonly after: Version
  readonly removed: readonly Part[]
  readonly before: Version
  readonly added: readonly Part[]
  /** For an append, the first of the new rows. */
  readonly from?: number
}

/** The most versions that are compared in one query. */
const MOST_STEPS = 100

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
    const meta = ['_change', '_version'].map((name) => unusedName(name, newest.columns))
    const columns: PlanColumn[] = [
      { name: meta[0]!, type: 'string', sql: 'change_' },
      { name: meta[1]!, type: 'integer', sql: 'version_' },
      ...newest.columns.map(({ name, type }, index) => ({ name, type, sql: `v${index}` })),
    ]
    const sql = changesSql(steps, newest.columns, (part) => store.integrity.file(part))
    this.#context = {
      ...place,
      identity: `${datasetId}.${since}-${this.next}`,
      reading: (plan) => new ChangesReading(plan, parts, store, this.#enter()),
      source: {
        columns,
        rows: steps.length === 0 ? 0 : undefined,
        rowBytes: newest.rows === 0 ? 0 : Math.ceil(newest.rawBytes / newest.rows),
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

  readonly [Symbol.dispose] = this.#once()

  #enter(): () => void {
    this.#users += 1
    return this.#once()
  }

  #once(): () => void {
    let isIn = true
    return () => {
      if (isIn) this.#leave()
      isIn = false
    }
  }

  #leave(): void {
    this.#users -= 1
    if (this.#users === 0) for (const lease of this.#leases) lease[Symbol.dispose]()
  }
}

/** Reads the parts that are compared. */
class ChangesReading extends Reading {
  readonly #parts: readonly Part[]
  readonly #store: Store
  readonly #leave: () => void
  #pinned: Disposable | undefined

  constructor(plan: Plan, parts: readonly Part[], store: Store, leave: () => void) {
    super(plan)
    this.#parts = parts
    this.#store = store
    this.#leave = leave
  }

  override async ready(_reach: unknown, signal: AbortSignal | undefined): Promise<Plan> {
    this.#pinned = await this.#store.integrity.pin(this.#parts, signal)
    this.whole = this.#store.integrity.whole(this.#parts, signal)
    // The reading may fail first; nobody waits for this then.
    this.whole?.catch(() => {})
    return this.plan
  }

  protected override unreadable(error: unknown): EngineError | undefined {
    return this.#store.integrity.unreadable(this.#parts, error, [])
  }

  protected override release(): void {
    this.#pinned?.[Symbol.dispose]()
    this.#leave()
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

/** The changes of all steps, in the order of versions and rows. */
function changesSql(
  steps: readonly Step[],
  columns: readonly Column[],
  fileOf: (part: Part) => string,
): string {
  const names = columns.map((_, index) => `v${index}`)
  if (steps.length === 0) {
    const nulls = columns.map(({ type }, index) => `CAST(NULL AS ${sqlType(type)}) AS v${index}`)
    const none = [
      "'' AS change_",
      'CAST(0 AS BIGINT) AS version_',
      ...nulls,
      '0 AS file_index',
      '0 AS file_row_number',
    ]
    return `(SELECT ${none.join(', ')} WHERE false)`
  }
  const selects = steps.map((step, index) => {
    const { before, after, removed, added, from } = step
    const shown = (change: string, place: string) =>
      `${[`${change} AS change_`, `CAST(${after.number} AS BIGINT) AS version_`, ...names, `${index} AS file_index`, `${place} AS file_row_number`].join(', ')}`
    const read = (version: Version, parts: readonly Part[], sign: number) =>
      parts.length === 0 ? [] : [rowsSql(version, parts, columns, sign, fileOf, from)]
    const rows = [...read(before, removed, -1), ...read(after, added, 1)].join(' UNION ALL ')
    if (removed.length === 0) return `SELECT ${shown("'insert'", 'place')} FROM (${rows})`
    if (added.length === 0) return `SELECT ${shown("'delete'", 'place')} FROM (${rows})`
    const grouped = `SELECT ${[...names, 'sum(sign) AS n', 'min(place) AS place'].join(', ')} FROM (${rows}) GROUP BY ${names.join(', ')} HAVING sum(sign) <> 0`
    const key = after.key.map((name) => columns.findIndex((column) => column.name === name))
    const isKeyed = key.length > 0 && !key.includes(-1)
    const keyed = isKeyed
      ? `SELECT *, count(*) OVER w = 2 AND sum(n) OVER w = 0 AND abs(n) = 1 AS updated, min(place) OVER w AS first FROM (${grouped}) WINDOW w AS (PARTITION BY ${key.map((at) => `v${at}`).join(', ')})`
      : `SELECT *, false AS updated, place AS first FROM (${grouped})`
    const change = `CASE WHEN updated THEN CASE WHEN n < 0 THEN 'update_before' ELSE 'update_after' END WHEN n < 0 THEN 'delete' ELSE 'insert' END`
    const place = 'CASE WHEN updated THEN first ELSE place END * 2 + CAST(n > 0 AS BIGINT)'
    return `SELECT ${shown(change, place)} FROM (SELECT *, unnest(range(CAST(abs(n) AS BIGINT))) FROM (${keyed}))`
  })
  const all = selects.map((select) => `(${select})`).join(' UNION ALL ')
  const isCompared = steps.some(({ removed, added }) => removed.length > 0 && added.length > 0)
  return isCompared ? `(SELECT * FROM (${all}) ORDER BY file_index, file_row_number)` : `(${all})`
}

/** The rows of parts under the columns of the newest version, each with its place. */
function rowsSql(
  version: Version,
  parts: readonly Part[],
  columns: readonly Column[],
  sign: number,
  fileOf: (part: Part) => string,
  from = 0,
): string {
  const values = columns.map((column, index) => `${valueSql(version.columns, column)} AS v${index}`)
  const selects = (files: readonly string[], first: number, where = '') =>
    `SELECT ${[...values, `${sign} AS sign`, `${first} + CAST(file_index AS BIGINT) * ${2 ** 32} + file_row_number AS place`].join(', ')} FROM read_parquet([${files.map(quoteLiteral).join(', ')}])${where}`
  if (from === 0) return selects(parts.map(fileOf), 0)
  const scan = versionSource(version, fileOf).scan(from, version.rows)
  const slices = scan.kind === 'slices' ? scan.slices : []
  return slices
    .map(({ file, first, from: start }) =>
      selects([file], first, start === undefined ? '' : ` WHERE file_row_number >= ${start}`),
    )
    .join(' UNION ALL ')
}

/** A column of the newest version as an older one has it. */
function valueSql(columns: readonly Column[], { name, type }: Column): string {
  const index = columns.findIndex((column) => column.name === name)
  const old = columns[index]
  if (!old) return `CAST(NULL AS ${sqlType(type)})`
  if (old.type === type || widens(old.type, type)) return widened(old, type, `c${index}`)
  return `TRY_CAST(CAST(c${index} AS VARCHAR) AS ${sqlType(type)})`
}
