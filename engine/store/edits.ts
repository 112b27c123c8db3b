import type { Authorship, Change } from '../catalog/history.ts'
import type { Origin, Part, Version } from '../catalog/records.ts'
import { EngineError, hint } from '../errors.ts'
import { byKey } from '../filter/sql/narrow.ts'
import { valueType } from '../filter/values.ts'
import { severalRows } from '../ingest/parts/fill.ts'
import type { Place, Repeated, RowSelection, SetColumns } from '../ingest/parts/parts.ts'
import type { UnnamedColumns } from '../ingest/request.ts'
import { faultsOf, withDetails } from '../ingest/text/errors.ts'
import { keyed } from '../plan/parts.ts'
import type { Column } from '../types/index.ts'
import { Semaphore } from '../util/semaphore.ts'
import type { MakingOptions, WorkContext } from './commits.ts'

/** Which rows a change is about, and what becomes of them. */
export interface EditPlan {
  /** Whether a part may have such rows, by its statistics. */
  readonly mayHold: (part: Part) => boolean
  /** A condition, or the rows with the key of a row of these parts. */
  readonly condition:
    | Exclude<RowSelection, { like: unknown }>
    | { readonly like: readonly Part[]; readonly on: readonly number[] }
  /** New values of columns; without them, the rows are left out. */
  readonly set?: SetColumns
  /** Whether there may be no such rows. */
  readonly refuse?: boolean
  /** Which columns the rows of the upload do not name, so that they keep the values of the rows whose places they take. */
  readonly unnamed?: UnnamedColumns | undefined
  /** Where columns are added: how many the parts have. */
  readonly oldColumns?: number | undefined
  /** Rows that take the places of those that are left out. */
  readonly instead?: {
    /** All parts that were made for the plan. */
    readonly made: readonly Part[]
    readonly parts: readonly Part[]
    /** The id of the version for which it was made, and the number of the one that is undone. */
    readonly base: number
    readonly number: number
    /** How many rows it changed. */
    readonly rows: number
  }
}

/** Makes the plan of a change for a version. */
export type PlanEdit = (version: Version) => EditPlan | Promise<EditPlan>

/** What takes the place of parts, and how many of their rows the change is about. */
interface Edited {
  readonly parts: readonly Part[]
  readonly count: number
}

/** The rows of an upload, with the values that they take from rows of these parts. */
interface Filled {
  readonly from: readonly Part[]
  readonly parts: readonly Part[]
}

/** The most changed rows of a part that are noted with it: beyond these, comparing all of its rows takes about as long. */
const MOST_NOTED = 10_000

/** The most rows of parts that are searched in one statement: each of them takes a bit. */
const ROWS_AT_ONCE = 8_000_000

/**
 * A change of rows in parts. It prepares what takes the place of each part, and only parts with such rows are written
 * again. Versions that others commit meanwhile have few other parts, so only these are prepared for another try.
 */
export class Edits {
  readonly columns: readonly Column[]
  readonly #context: WorkContext
  readonly #plan: EditPlan
  readonly #edited = new Map<number, Edited>()
  #filled: Filled | undefined
  /** Parts are written one after the other, by one process whose threads use all cores: another costs its start. */
  readonly #writing = new Semaphore(1)

  constructor(context: WorkContext, columns: readonly Column[], plan: EditPlan) {
    this.#context = context
    this.columns = columns
    this.#plan = plan
  }

  /** The parts that were written, also by a preparation that failed. */
  get made(): Part[] {
    const edited = [...this.#edited].flatMap(([id, { parts }]) => parts.filter((part) => part.id !== id))
    return [...edited, ...(this.#filled?.parts ?? [])]
  }

  /** Prepares the parts of a version that were not prepared before. */
  async prepare({ parts }: Version, options: MakingOptions): Promise<void> {
    let batch: Part[] = []
    for (const part of parts.filter(({ id }) => !this.#edited.has(id))) {
      if (!this.#plan.oldColumns && !this.#plan.mayHold(part))
        this.#edited.set(part.id, { parts: [part], count: 0 })
      else batch.push(part)
      if (rowsOf(batch) < ROWS_AT_ONCE) continue
      await this.#edit(batch, options)
      batch = []
    }
    if (batch.length > 0) await this.#edit(batch, options)
    if (this.#plan.unnamed) await this.#fill(parts, this.#plan.unnamed, options)
  }

  /** The parts in which rows were found. */
  #found(parts: readonly Part[]): Part[] {
    return parts.filter(({ id }) => (this.#edited.get(id)?.count ?? 0) > 0)
  }

  /** Gives the rows of the upload what they keep, again if other parts have the rows whose places they take. */
  async #fill(parts: readonly Part[], unnamed: UnnamedColumns, options: MakingOptions): Promise<void> {
    const { signal } = options
    const { condition, oldColumns = this.columns.length } = this.#plan
    const { like, on } = condition as Extract<EditPlan['condition'], { like: unknown }>
    const from = this.#found(parts)
    if (this.#filled && sameParts(this.#filled.from, from)) return
    const { commits, integrity } = this.#context
    if (this.#filled) await commits.discard(this.#filled.parts)
    this.#filled = undefined
    const count = from.reduce((sum, { id }) => sum + this.#edited.get(id)!.count, 0)
    // The keys of the upload differ, so one of them has several rows.
    if (count > rowsOf(like)) throw severalRows()
    using pinned = await integrity.pinWhole([...like, ...from], signal)
    const [given, old] = [pinned.files.slice(0, like.length), pinned.files.slice(like.length)]
    const { columns } = this
    const size = { rows: rowsOf(like), rawBytes: like.reduce((sum, part) => sum + part.rawBytes, 0) }
    const made = await commits.makeParts(async ({ fill }, target) => {
      const written = await fill(
        { parts: given, old, oldColumns, target, columns, on, unnamed, size },
        { signal },
      )
      return { ...written, columns }
    }, options)
    this.#filled = { from, parts: made.parts }
  }

  async #edit(parts: readonly Part[], options: MakingOptions): Promise<void> {
    const { signal } = options
    const { commits, integrity } = this.#context
    const { condition, refuse, set, oldColumns } = this.#plan
    const like = 'like' in condition ? condition.like : []
    using pinned = await integrity.pinWhole([...parts, ...like], signal)
    const { jobs } = await this.#context.ingestor()
    const files = pinned.files.slice(0, parts.length)
    const rows = Math.max(...parts.map((part) => part.rows))
    const given = 'like' in condition ? { ...condition, like: pinned.files.slice(parts.length) } : condition
    const found = await jobs.find({ parts: files, rows, selection: given }, { signal })
    if (refuse && 'on' in condition && Object.keys(found).length > 0) {
      await requireDistinct(this.#context, like, this.columns, condition.on, { signal, others: parts })
    }
    const { columns } = this
    const edits = parts.map(async (part, index): Promise<Edited> => {
      const { count, bits } = found[index] ?? { count: 0, bits: '' }
      if (count === 0 && !oldColumns) return { parts: [part], count }
      if (count === part.rows && !set) return { parts: [], count }
      using turn = await this.#writing.enter()
      const made = await commits.makeParts(
        async (jobs, target) => {
          const edit = {
            part: files[index]!,
            target,
            columns,
            oldColumns: oldColumns ?? columns.length,
            bits,
            set,
            size: part,
          }
          const written = await jobs.edit(edit, { signal })
          // While this part is hashed and stored, the next one is written.
          turn[Symbol.dispose]()
          return { ...written, columns }
        },
        { ...options, origin: originOf(part, count, bits) },
      )
      return { parts: made.parts, count }
    })
    const settled = await Promise.allSettled(edits)
    for (const [index, one] of settled.entries()) {
      if (one.status === 'fulfilled') this.#edited.set(parts[index]!.id, one.value)
    }
    await Promise.all(edits)
  }

  /**
   * The parts of a version after the change, and those that come after them in place of the upload's; undefined if one of
   * the version's parts was not prepared.
   */
  changed(parts: readonly Part[]): (Edited & { readonly filled?: readonly Part[] | undefined }) | undefined {
    const edited = parts.map(({ id }) => this.#edited.get(id))
    if (edited.includes(undefined)) return undefined
    if (this.#filled && !sameParts(this.#filled.from, this.#found(parts))) return undefined
    const all = edited as Edited[]
    const count = all.reduce((sum, one) => sum + one.count, 0)
    return { parts: all.flatMap((one) => one.parts), count, filled: this.#filled?.parts }
  }
}

function originOf({ hash }: Part, count: number, bits: string): Origin | undefined {
  if (hash === null || count > MOST_NOTED) return undefined
  const rows: number[] = []
  for (let at = bits.indexOf('1'); at >= 0; at = bits.indexOf('1', at + 1)) rows.push(at)
  return { hash, rows }
}

function sameParts(some: readonly Part[], others: readonly Part[]): boolean {
  return some.length === others.length && some.every(({ id }, index) => id === others[index]!.id)
}

/** The change for rows with the keys of an upload. */
export function editByKey(
  like: readonly Part[],
  columns: readonly Column[],
  on: readonly number[],
  rest: Pick<EditPlan, 'refuse' | 'unnamed' | 'oldColumns'>,
): EditPlan {
  const mayHold = (part: Part) =>
    like.some((other) => on.every((index) => mayShare(part, other, columns, index)))
  return { mayHold, condition: { like, on }, ...rest }
}

/** What a change of rows is in the list of versions. @param count how many rows were found */
export function changeOf({ set, instead }: EditPlan, count: number, { by, note }: Authorship): Change {
  const operation = instead ? 'restore' : set ? 'edit' : 'delete'
  const addedRows = set ? count : rowsOf(instead?.parts ?? [])
  const why = note ?? (instead && `The change of version ${instead.number}, undone.`)
  return { by, note: why, operation, addedRows, removedRows: count }
}

/** The change for an upload that only adds columns: no rows are found. */
export function addingColumns(oldColumns: number): EditPlan {
  return { mayHold: () => false, condition: { where: 'false', parameters: [] }, oldColumns }
}

/** Whether two parts may have the same value in a column. */
function mayShare(a: Part, b: Part, columns: readonly Column[], index: number): boolean {
  const type = valueType(columns[index]!.type)
  const [one, other] = [a.statistics?.[index], b.statistics?.[index]]
  if (!one || !other || (one.nulls > 0 && other.nulls > 0)) return true
  const isBefore = (max: string | null, min: string | null) => {
    if (max === null || min === null) return false
    const [end, start] = [keyed(max, type), keyed(min, type)]
    return byKey(end, start) < 0
  }
  return !isBefore(one.max, other.min) && !isBefore(other.max, one.min)
}

/**
 * Refuses rows in which all columns of a key are null, by which they would take each other's places.
 * @throws EngineError `duplicate_key`, with the first row
 */
async function requireKeys(
  context: WorkContext,
  parts: readonly Part[],
  columns: readonly Column[],
  on: readonly number[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const hasNulls = ({ statistics }: Part) => on.every((index) => (statistics?.[index]?.nulls ?? 1) > 0)
  const looked = parts.filter(hasNulls)
  if (looked.length === 0) return
  using pinned = await context.integrity.pinWhole(looked, signal)
  const { jobs } = await context.ingestor()
  const where = on.map((index) => `c${index} IS NULL`).join(' AND ')
  const selection = { where, parameters: [] }
  const found = await jobs.find(
    { parts: pinned.files, rows: Math.max(...looked.map(({ rows }) => rows)), selection },
    { signal },
  )
  const [first] = Object.keys(found).map(Number)
  if (first === undefined) return
  const row = rowsOf(parts.slice(0, parts.indexOf(looked[first]!))) + found[first]!.bits.indexOf('1') + 1
  const key = on.map((index) => columns[index]!.name)
  const names = key.map((name) => JSON.stringify(name)).join(', ')
  const what = `Row ${row} has no key: ${names} ${key.length > 1 ? 'are' : 'is'} null.`
  throw new EngineError('duplicate_key', what, { details: { row, columns: key } })
}

/**
 * Refuses rows that repeat a key.
 * @param others parts whose rows must have other keys; without them, the rows must differ from each other
 * @throws EngineError `duplicate_key`, with up to twenty rows
 */
export async function requireDistinct(
  context: WorkContext,
  parts: readonly Part[],
  columns: readonly Column[],
  on: readonly number[],
  { signal, others }: { readonly signal?: AbortSignal | undefined; readonly others?: readonly Part[] },
): Promise<void> {
  if (parts.length === 0) return
  if (!others) await requireKeys(context, parts, columns, on, signal)
  using pinned = await context.integrity.pinWhole([...parts, ...(others ?? [])], signal)
  const { jobs } = await context.ingestor()
  const files = pinned.files.slice(0, parts.length)
  const like = others && pinned.files.slice(parts.length)
  const found = await jobs.repeated({ parts: files, on, like }, { signal })
  if (found.length === 0) return
  const number = ([part, row]: Place) => rowsOf(parts.slice(0, part)) + row + 1
  const errors = found.map(({ places, key }: Repeated) => {
    const rows = places.map(number)
    const value = on.map((index, at) => `${columns[index]!.name} = ${key[at] ?? 'null'}`).join(', ')
    const error = others
      ? `Row ${rows[0]} has a key that the dataset has already: ${value}. With ${hint('mode=upsert')}, it takes the place of that row.`
      : `Rows ${rows.join(' and ')} have the same key: ${value}.`
    return new EngineError('duplicate_key', error, { details: { row: rows.at(-1)!, value } })
  })
  const [first] = errors
  const key = on.map((index) => columns[index]!.name)
  throw withDetails(first!, { columns: key, errors: errors.flatMap(faultsOf) })
}

export function rowsOf(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + part.rows, 0)
}
