import { setTimeout as sleep } from 'node:timers/promises'
import { isAttached, type Part, type Version } from '../catalog/records.ts'
import { EngineError, invalidOption } from '../errors.ts'
import { readParts } from '../parquet/read-parts.ts'
import { versionSource } from '../plan/parts.ts'
import type { Lease } from '../store/membership/membership.ts'
import type { Store } from '../store/store.ts'
import { sameColumns, widens } from '../types/columns.ts'
import { type Column, type ColumnType, decimalParts, sqlType } from '../types/index.ts'
import { Users } from '../util/shared.ts'
import { PastRows, type ReadingContext, valueSql } from './past-rows.ts'

/** The versions after `since` up to `until`; without it, up to the newest. */
export interface ChangesRange {
  readonly since: number
  readonly until?: number | undefined
}

/** The most versions that are compared in one query. */
const MOST_STEPS = 100
/** How often to look whether there is a new version. It costs next to nothing: records are cached until they change. */
const LOOK_MS = 25
/** What the columns have in common that say what happened to a row. */
const META = { nullable: false, description: '' } as const

/**
 * The rows that were inserted, deleted and updated from one version of a dataset to another, version by version. It can
 * be queried like a dataset until it is disposed. The first two columns say what happened to a row and in which version.
 *
 * They are in the columns of the newest version, and in those that only older ones have.
 *
 * Rows in parts that two versions share have not changed, and an append has only new rows. Of a part that is a changed copy
 * of another one, it is known which rows may differ. The other rows are compared as multisets: a group of equal rows is inserted or deleted as often as their number differs.
 * If there is a key, a row deleted and a row inserted with the same key are one updated row; without one, the rows of an
 * edit are, while their parts are as it left them. What versions changed that are no longer kept is found with the next one
 * that is.
 */
export class Changes extends PastRows {
  /** The version up to which changes are given, from which to go on. */
  readonly next: number
  /** The names of the first two columns: `_change` and `_version`, unless the dataset has such columns itself. */
  readonly names: readonly [change: string, version: string]
  readonly #newest: SharedLease

  private constructor(
    others: readonly Lease[],
    shared: SharedLease,
    steps: readonly Step[],
    store: Store,
    datasetId: number,
    since: number,
    context: ReadingContext,
  ) {
    const leases = [...others, shared.take()]
    const newest = shared.version
    const shown = columnsOf(leases.map(({ version }) => version))
    const names = [unusedName('_change', shown), unusedName('_version', shown)] as const
    const columns: Column[] = [
      { ...META, name: names[0], type: 'string' },
      { ...META, name: names[1], type: 'integer' },
      ...shown,
    ]
    super(leases, store, context, {
      identity: `${datasetId}.${since}-${newest.number}`,
      columns,
      parts: steps.flatMap(partsOf),
      sql: changesSql(steps, shown, (part) => store.integrity.file(part)),
      most: steps.reduce((sum, step) => sum + rowsOf(step), 0),
      isCompared: steps.some(isCompared),
      isEmpty: steps.length === 0,
    })
    this.next = newest.number
    this.names = names
    this.#newest = shared
  }

  /** Keeps version `next` as it was read, with the parts that it had then. Call it before this is disposed. */
  keepNewest(): Lease {
    return this.#newest.take()
  }

  /**
   * @param from the version `since`, if it is kept already; it is released with the others
   * @throws EngineError `invalid_option`, `not_found`, `version_gone`
   */
  static async open(
    store: Store,
    datasetId: number,
    { since, until = Number.MAX_SAFE_INTEGER }: ChangesRange,
    context: ReadingContext,
    from?: Lease,
  ): Promise<Changes> {
    const leases: Lease[] = from ? [from] : []
    try {
      if (until < since) throw invalidOption(`until is ${until}, but since is ${since}.`)
      const { version: newest } = await store.datasets.get(datasetId)
      if (until !== Number.MAX_SAFE_INTEGER) await store.history.find(datasetId, { version: until })
      if (!from) leases.push(await store.readPast(datasetId, { version: since }))
      const steps: Step[] = []
      const end = Math.min(until, newest, since + MOST_STEPS)
      for (let number = since + 1; number <= end; number++) {
        const before = leases.at(-1)!.version
        const lease = await ifKept(store.readPast(datasetId, { version: number }))
        if (!lease) continue
        leases.push(lease)
        const { operation } = await store.history.get(datasetId, { version: number })
        const isAppend = operation === 'append' && number === before.number + 1
        const step = stepTo(before, lease.version, isAppend)
        if (step) steps.push(isCompared(step) ? await narrowed(step, store) : step)
      }
      const last = new SharedLease(leases.pop()!)
      return new Changes(leases, last, steps, store, datasetId, since, context)
    } catch (error) {
      for (const lease of leases) lease[Symbol.dispose]()
      throw error
    }
  }
}

/**
 * The changes after version `since`, at once and even if there are none, then those of newer versions as they come. Each
 * is disposed when the next is asked for. The version from which to go on is kept meanwhile.
 */
export async function* followChanges(
  store: Store,
  datasetId: number,
  since: number,
  context: ReadingContext,
  signal: AbortSignal | undefined,
): AsyncGenerator<Changes, never, undefined> {
  let held: Lease | undefined
  try {
    for (let known = since; ; ) {
      {
        using changes = await Changes.open(store, datasetId, { since: known }, context, held)
        held = changes.keepNewest()
        known = changes.next
        yield changes
      }
      while ((await store.datasets.get(datasetId)).version <= known)
        await sleep(LOOK_MS, undefined, signal && { signal })
    }
  } finally {
    held?.[Symbol.dispose]()
  }
}

/** A lease of several users. */
class SharedLease {
  readonly version: Version
  readonly #users: Users

  constructor(lease: Lease) {
    this.version = lease.version
    this.#users = new Users(() => lease[Symbol.dispose]())
  }

  take(): Lease {
    return { version: this.version, [Symbol.dispose]: this.#users.enter() }
  }
}

async function ifKept(reading: Promise<Lease>): Promise<Lease | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof EngineError && error.code === 'version_gone') return undefined
    throw error
  }
}

/**
 * The columns of the newest version, then those that only older ones have, so that deleted rows keep their values. A
 * column whose type has changed to one that does not hold its older values is text; numbers are doubles if some are.
 */
function columnsOf(versions: readonly Version[]): Column[] {
  const found = new Map<string, { column: Column; versions: number }>()
  // The version before the first upload, which may have been restored, has no columns.
  const some = versions.filter(({ columns }) => columns.length > 0).toReversed()
  for (const { columns } of some) {
    for (const column of columns) {
      const { column: known, versions } = found.get(column.name) ?? { column, versions: 0 }
      const nullable = known.nullable || column.nullable
      const type = holdingBoth(column.type, known.type)
      found.set(column.name, { column: { ...known, nullable, type }, versions: versions + 1 })
    }
  }
  return [...found.values()].map(({ column, versions }) => ({
    ...column,
    nullable: column.nullable || versions < some.length,
  }))
}

function holdingBoth(older: ColumnType, newer: ColumnType): ColumnType {
  if (older === newer || widens(older, newer)) return newer
  if (newer !== 'string' && widens(newer, older)) return older
  const areNumbers = [older, newer].every(
    (type) => ['integer', 'double'].includes(type) || decimalParts(type),
  )
  return areNumbers ? 'double' : 'string'
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

/** The rows that differ between two versions, as a relation like that of `Changes`. */
export interface Found {
  readonly sql: string
  /** Those that it reads. */
  readonly parts: readonly Part[]
  /** There can't be more. */
  readonly rows: number
}

/** The rows that one version has other than an earlier one; undefined if both have the same. */
export async function changesBetween(
  before: Version,
  after: Version,
  columns: readonly Column[],
  store: Store,
): Promise<Found | undefined> {
  const found = stepTo(before, after, false)
  if (!found) return undefined
  const step = isCompared(found) ? await narrowed(found, store) : found
  const sql = changesSql([step], columns, (part) => store.integrity.file(part))
  return { sql, parts: partsOf(step), rows: rowsOf(step) }
}

/** The most rows of parts that a statement names one by one. */
const MOST_NAMED = 200_000

/** The step with the rows in which parts differ that are changed copies of others, unless these are too many. */
async function narrowed(step: Step, store: Store): Promise<Step> {
  const { before, after, removed, added } = step
  // What is known of the rows is not true of their values under other columns.
  if (!sameColumns(before.columns, after.columns.slice(0, before.columns.length))) return step
  const origins = await store.parts.origins(added.map(({ id }) => id))
  const byHash = new Map(removed.map((part) => [part.hash, part]))
  const only = new Map<number, readonly number[]>()
  let named = 0
  for (const copy of added) {
    const { hash, rows } = origins.get(copy.id) ?? {}
    const original = hash === undefined ? undefined : byHash.get(hash)
    if (!rows || !original) continue
    // Two parts may have the same bytes.
    byHash.delete(original.hash)
    only.set(original.id, rows)
    only.set(copy.id, copy.rows === original.rows ? rows : [])
    named += rows.length
  }
  return named > MOST_NAMED ? step : { ...step, only }
}

const partsOf = ({ removed, added }: Step) => [...removed, ...added]

function rowsOf({ after, removed, added, from, only }: Step): number {
  if (from !== undefined) return after.rows - from
  return [...removed, ...added].reduce((sum, { id, rows }) => sum + (only?.get(id)?.length ?? rows), 0)
}

function unusedName(name: string, columns: readonly Column[]): string {
  return columns.some((column) => column.name === name) ? unusedName(`_${name}`, columns) : name
}

/** One version and the one before it, and which rows differ. */
interface Step {
  readonly after: Version
  readonly removed: readonly Part[]
  readonly before: Version
  readonly added: readonly Part[]
  /** For an append, the first of the new rows. */
  readonly from?: number
  /** By the ids of parts, the only rows of them that may differ; all rows of the others may. */
  readonly only?: ReadonlyMap<number, readonly number[]>
}

function isCompared({ removed, added }: Step): boolean {
  return removed.length > 0 && added.length > 0
}

/** Whether each new part is the changed copy of an old one, row by row, so that a row is found at the place that it had. */
function keepsPlaces({ removed, added, only }: Step): boolean {
  const isCopy = ({ id }: Part, index: number) => {
    const rows = only?.get(id)
    return rows !== undefined && rows.length > 0 && rows === only!.get(removed[index]?.id ?? -1)
  }
  return removed.length === added.length && added.every(isCopy)
}

/**
 * The changes of all steps as c0, c1, …, of which the first two say what changed. They are in the order of versions and
 * rows by `file_index` and `file_row_number`; without comparisons they come in it.
 */
function changesSql(
  steps: readonly Step[],
  columns: readonly Column[],
  fileOf: (part: Part) => string,
): string {
  const names = columns.map((_, index) => `v${index}`)
  const values = names.map((name, index) => `${name} AS c${index + 2}`)
  if (steps.length === 0) {
    const nulls = columns.map(({ type }, index) => `CAST(NULL AS ${sqlType(type)}) AS c${index + 2}`)
    const none = ["'' AS c0", 'CAST(0 AS BIGINT) AS c1', ...nulls, '0 AS file_index', '0 AS file_row_number']
    return `(SELECT ${none.join(', ')} WHERE false)`
  }
  const selects = steps.map((step, index) => {
    const { before, after, removed, added } = step
    const shown = (change: string, position: string) =>
      `${[`${change} AS c0`, `CAST(${after.number} AS BIGINT) AS c1`, ...values, `${index} AS file_index`, `${position} AS file_row_number`].join(', ')}`
    const read = (version: Version, parts: readonly Part[], sign: number) =>
      parts.length === 0 ? [] : [rowsSql(version, parts, columns, sign, fileOf, step)]
    const rows = [...read(before, removed, -1), ...read(after, added, 1)].join(' UNION ALL ')
    if (removed.length === 0) return `SELECT ${shown("'insert'", 'place')} FROM (${rows})`
    if (added.length === 0) return `SELECT ${shown("'delete'", 'place')} FROM (${rows})`
    const key = after.key.map((name) => columns.findIndex((column) => column.name === name))
    const isKeyed = key.length > 0 && !key.includes(-1)
    const isAligned = !isKeyed && keepsPlaces(step)
    const grouped = `SELECT ${[...names, 'sum(sign) AS n', 'min(place) AS place'].join(', ')} FROM (${rows}) GROUP BY ${[...names, ...(isAligned ? ['place'] : [])].join(', ')} HAVING sum(sign) <> 0`
    const same = isKeyed ? key.map((at) => `v${at}`) : ['place']
    const keyed =
      isKeyed || isAligned
        ? `SELECT *, count(*) OVER w = 2 AND sum(n) OVER w = 0 AND abs(n) = 1 AS updated, min(place) OVER w AS first FROM (${grouped}) WINDOW w AS (PARTITION BY ${same.join(', ')})`
        : `SELECT *, false AS updated, place AS first FROM (${grouped})`
    const change = `CASE WHEN updated THEN CASE WHEN n < 0 THEN 'update_before' ELSE 'update_after' END WHEN n < 0 THEN 'delete' ELSE 'insert' END`
    const position = 'CASE WHEN updated THEN first ELSE place END * 2 + CAST(n > 0 AS BIGINT)'
    return `SELECT ${shown(change, position)} FROM (SELECT *, unnest(range(CAST(abs(n) AS BIGINT))) FROM (${keyed}))`
  })
  return `(${selects.map((select) => `(${select})`).join(' UNION ALL ')})`
}

/** The rows of parts under the columns of the changes, each with its place. */
function rowsSql(
  version: Version,
  parts: readonly Part[],
  columns: readonly Column[],
  sign: number,
  fileOf: (part: Part) => string,
  { from = 0, only }: Pick<Step, 'from' | 'only'>,
): string {
  const values = columns.map((column, index) => `${valueSql(version.columns, column)} AS v${index}`)
  const selects = (files: readonly string[], first: number, where = '') =>
    `SELECT ${[...values, `${sign} AS sign`, `${first} + CAST(file_index AS BIGINT) * ${2 ** 32} + file_row_number AS place`].join(', ')} FROM ${readParts(files, isAttached(parts) ? version.columns : undefined)}${where}`
  if (only) {
    const some = parts.flatMap((part, index) => {
      const rows = only.get(part.id)
      if (rows?.length === 0) return []
      const where = rows && ` WHERE file_row_number IN (${rows.join(', ')})`
      return [selects([fileOf(part)], index * 2 ** 32, where)]
    })
    return some.length > 0 ? some.join(' UNION ALL ') : selects([fileOf(parts[0]!)], 0, ' WHERE false')
  }
  if (from === 0) return selects(parts.map(fileOf), 0)
  const scan = versionSource(version, fileOf).scan(from, version.rows)
  const slices = scan.kind === 'slices' ? scan.slices : []
  return slices
    .map(({ file, first, from: start }) =>
      selects([file], first, start === undefined ? '' : ` WHERE file_row_number >= ${start}`),
    )
    .join(' UNION ALL ')
}
