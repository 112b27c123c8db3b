import { constants, copyFile, link } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { EngineError, storageError } from '../errors.ts'
import type { LentReader } from '../ingest/process/reader-pool.ts'
import type { ReadEstimate } from '../plan/parts.ts'
import { isRanged, type Plan, type TableScan } from '../plan/plan.ts'
import { rowsStatement } from '../plan/statements.ts'
import { Reading } from '../reading/reading.ts'
import { isBelow } from '../store/layout.ts'
import { quoteIdentifier } from '../types/index.ts'
import { Users } from '../util/shared.ts'
import { INTERNAL, shownName } from './errors.ts'
import type { Lend } from './process/sql-pool.ts'

export interface Scanned {
  /** Its name there, which no other table has. */
  readonly name: string
  readonly columns: readonly string[]
  /** The plan of all its rows. */
  readonly plan: Plan
  /** What the statement reads of them. */
  readonly estimate: ReadEstimate
  readonly reading: () => Reading
}

/**
 * The tables of a statement and of the saved queries below it, as common table expressions of one list: DuckDB's time
 * for lists within lists doubles with each.
 */
export class Tables {
  readonly #sql = new Map<string, string>()
  readonly scans: TableScan[] = []

  has({ name }: Scanned): boolean {
    return this.#sql.has(name)
  }

  /**
   * @param fenced whether nothing may be evaluated but the rows themselves: an expression that failed on another row would
   * reveal it. Without MATERIALIZED, DuckDB moves conditions, and evaluates functions on all values of a dictionary,
   * also those of rows that a condition has left out.
   */
  add({ name, columns }: Scanned, plan: Plan, fenced: boolean): void {
    const names = columns.map(quoteIdentifier).join(', ')
    const rows = rowsStatement(withoutBinaryFilters(plan), undefined).sql
    const how = fenced ? 'MATERIALIZED' : 'NOT MATERIALIZED'
    this.#sql.set(name, `${quoteIdentifier(name)} (${names}) AS ${how} (${rows})`)
    if (plan.scan.kind !== 'slices') return
    const shown = plan.columns.map((column, index) => ({ ...column, name: shownName(columns[index]!) }))
    this.scans.push({ ...plan.scan, columns: shown })
  }

  get sql(): string {
    return `WITH ${[...this.#sql.values()].join(', ') || NO_TABLE} `
  }
}

/**
 * The plan with expressions in place of binary columns. DuckDB 1.5 loses rows by the Bloom filters of such columns, which
 * parts of older versions have, and uses them for columns alone (see the known faults of DuckDB).
 */
function withoutBinaryFilters(plan: Plan): Plan {
  const columns = plan.columns.map((column) =>
    column.type === 'binary' ? { ...column, sql: `${column.sql} || ''::BLOB` } : column,
  )
  return { ...plan, columns }
}

/** WITH needs a table. */
const NO_TABLE = `"${INTERNAL}t" AS (SELECT 1)`

/** A process that is lent while some reading of a query needs it. */
export class Session {
  readonly #lend: Lend
  readonly #users = new Users(() => {
    this.#lent?.then(
      (lent) => lent[Symbol.dispose](),
      () => {},
    )
    this.#lent = undefined
  })
  #lent: Promise<LentReader> | undefined

  constructor(lend: Lend) {
    this.#lend = lend
  }

  /** Gives what is to be called when the process is needed no more, also if there is none. */
  enter(signal: AbortSignal | undefined): () => void {
    this.#lent ??= this.#lend(signal)
    return this.#users.enter()
  }

  /** The process that somebody has entered with. */
  get lent(): Promise<LentReader> {
    return this.#lent!
  }
}

/** What a reading of a statement's rows takes. */
export interface SqlReadingContext {
  readonly tables: readonly Scanned[]
  readonly session: Session
  /** Whether so little is read that one thread is enough. */
  readonly light: boolean
  /** Whether values must not be told, because the reader may not see all that saved queries read. */
  readonly hiding: boolean
  /** Whether these are rows of a saved query that leaves out some which its reader may not see. */
  readonly fenced: boolean
  /** Checks once more that the tables may be read. */
  readonly authorise: () => Promise<void>
  /** The relation of the statement's rows, given WITH and the tables; nothing where it is below another one. */
  readonly relation: (tables: string) => string
  /** The error as users see it; undefined if it is not about the statement or its values, but about files in `places`. */
  readonly explain: (error: unknown, places: readonly string[]) => EngineError | undefined
}

/** A reading of the rows of a user's statement, in a process that is given links to the parts, and nothing else. */
export class SqlReading extends Reading {
  readonly #context: SqlReadingContext
  /** Begun at once, so that the versions stay even if the query is disposed. */
  readonly #readings: readonly Reading[]
  #leave = () => {}
  /** The folder where the links to the parts are, whose name nobody can guess, and attached files. */
  readonly #places: string[] = []

  constructor(plan: Plan, context: SqlReadingContext) {
    super(plan, context.hiding)
    this.#context = context
    this.#readings = context.tables.map((table) => table.reading())
  }

  override async ready(_reach: unknown, signal: AbortSignal | undefined): Promise<Plan> {
    const { light, relation, session } = this.#context
    this.#leave = session.enter(signal)
    const tables = new Tables()
    await this.link(await session.lent, signal, tables)
    return { ...this.plan, scan: { kind: 'query', sql: relation(tables.sql), light, tables: tables.scans } }
  }

  /** Links the parts of all tables into the folder of a process, and adds the tables to those of the statement there. */
  async link(lent: LentReader, signal: AbortSignal | undefined, tables: Tables): Promise<void> {
    const { authorise, tables: named } = this.#context
    this.#places.push(lent.process.directory)
    await authorise()
    for (const [index, table] of named.entries()) {
      if (tables.has(table)) continue
      const reading = this.#readings[index]!
      const plan =
        reading instanceof SqlReading
          ? await reading.nested(lent, signal, tables)
          : await linked(await reading.ready(table.estimate, signal), lent)
      const slices = plan.scan.kind === 'slices' ? plan.scan.slices : []
      this.#places.push(...slices.flatMap(({ attached, file }) => (attached ? file : [])))
      tables.add(table, plan, reading instanceof SqlReading && reading.fenced)
    }
    const wholes = this.#readings.flatMap(({ whole }) => whole ?? [])
    if (wholes.length > 0) this.whole = () => Promise.all(wholes.map((whole) => whole()))
  }

  get fenced(): boolean {
    return this.#context.fenced
  }

  /** The plan of the rows below another statement, which has the tables. */
  async nested(lent: LentReader, signal: AbortSignal | undefined, tables: Tables): Promise<Plan> {
    await this.link(lent, signal, tables)
    return { ...this.plan, scan: { kind: 'query', sql: this.#context.relation('') } }
  }

  protected override unreadable(error: unknown): EngineError | undefined {
    const about = this.#context.explain(error, this.#places)
    if (about) return about
    for (const reading of this.#readings) {
      const explained = reading.explain(error)
      if (explained instanceof EngineError) return explained
    }
    return undefined
  }

  protected override release(): void {
    for (const reading of this.#readings) reading[Symbol.dispose]()
    this.#leave()
  }
}

/** Links those parts of a plan that are files into the folder of a process. */
async function linked(plan: Plan, lent: LentReader): Promise<Plan> {
  const { scan } = plan
  if (scan.kind !== 'slices') throw new TypeError('tables of a statement have parts')
  const slices = scan.slices.map(async (slice) => {
    const { directory, folders } = lent.process
    // Links would need the same disk, and change files of others, whose folders the process may open.
    const mayOpen = (folder: string) => isBelow(slice.file, folder) && !isBelow(directory, folder)
    if (isRanged(slice) || folders.some(mayOpen)) return slice
    const file = join(directory, basename(slice.file))
    await linkPart(slice.file, file)
    return { ...slice, file }
  })
  return { ...plan, scan: { ...scan, slices: await Promise.all(slices) } }
}

async function linkPart(file: string, to: string): Promise<void> {
  try {
    await link(file, to)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    // Some file systems have no links, and none lead to another disk.
    if (code !== 'EXDEV' && code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EMLINK')
      throw storageError(error)
    await copyFile(file, to, constants.COPYFILE_FICLONE).catch((failed: unknown) => {
      throw storageError(failed)
    })
  }
}
