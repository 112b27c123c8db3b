import type { Plan } from '../plan/plan.ts'
import { type Copies, copies, hasPositions, sortsWideRows } from '../plan/statements.ts'
import { withoutRowNumbers } from '../plan/view.ts'
import type { Format } from '../types/index.ts'
import type { EncodeOptions, RowNumbers } from './formats/encoder.ts'

/** The form in which a query's rows are wanted. */
export type OutputKind = Format | 'rows'

export interface ChooseOptions {
  /** How many rows match the filter, if that was found before. */
  readonly matches?: number | undefined
  /** Whether the next page will probably be read as well. */
  readonly paged?: boolean | undefined
  /** How a Parquet file is encoded, if that matters. */
  readonly encoding?: EncodeOptions['encoding']
  /** Whether another database may answer. */
  readonly remote?: boolean | undefined
}

interface Reads {
  /** What is read. Its window or its columns may differ from those of the query. */
  readonly plan: Plan
  /** Whether parts may be read by ranges, or must be there as files. */
  readonly ranges: boolean
  /** Whether another database is asked first, if it pays. */
  readonly remote: boolean
  /** Whether a first statement finds where the rows are, by the columns of the filter and of the order alone. */
  readonly located: boolean
}

/** How a query is run, as data. */
export type Strategy =
  /** There are no columns. */
  | { readonly kind: 'nothing' }
  /** The matching rows are counted. */
  | (Reads & { readonly kind: 'count' })
  /** Few rows, which are fetched completely before they are written. */
  | (Reads & Writes & { readonly kind: 'buffered'; readonly counting: Counting | undefined })
  /** Many rows, which are fetched while they are written. */
  | (Reads & Writes & { readonly kind: 'stream'; readonly paged: boolean } & Turns)
  /** A Parquet file: pages of stored files, copied, or where that is not possible, what DuckDB writes. */
  | (Reads & { readonly kind: 'parquet'; readonly copies: Copies | undefined } & Turns)

interface Turns {
  /** Whether the rows that were located are read some at a time. */
  readonly inTurns: boolean
}

interface Writes {
  /** Columns that the encoder counts instead of reading them. */
  readonly numbers: RowNumbers | undefined
}

/**
 * The plan looks for some rows more than are wanted. If it finds fewer than it looks for, their number is that of all
 * rows that match.
 */
export interface Counting {
  /** How many rows are wanted, of those in the window. */
  readonly requested: number
  readonly window: Plan['window']
}

/** The most rows, and the most bytes, that are produced in one go: about what a page of a table takes. */
const BUFFERED_ROWS = 1_000
const BUFFERED_BYTES = 256 << 10

/** How many more rows than wanted are looked for. Each may cost a vector of all columns, so they are few. */
const LOOK_AHEAD = 32

/** The largest table of which all rows that match are looked for. */
const COUNTED_ROWS = 20_000
const COUNTED_BYTES = 1 << 20

export type ReadingStrategy = Exclude<Strategy, { kind: 'nothing' }>

/** Decides how a query is run. Nothing else does. */
export function choose(
  plan: Plan,
  output: OutputKind,
  { matches, paged = false, encoding, remote = false }: ChooseOptions = {},
): Strategy {
  if (plan.columns.length === 0) return { kind: 'nothing' }
  const requested = mostRows(plan)
  const isWorkbook = output === 'xlsx'
  const isParquet = output === 'parquet'
  const counts = matches === undefined && output !== 'rows' && !isWorkbook && !isParquet
  if (counts && mayCount(plan, requested)) return chooseCounting(plan, requested, remote)
  const numbered = output === 'json' ? withoutRowNumbers(plan) : undefined
  const numbers = numbered?.numbers
  // Pages of files are copied, and the rows of a workbook are read twice.
  const files = isParquet || isWorkbook || numbered !== undefined
  const located = plan.order.length > 0 && !remote && hasPositions(plan)
  const reads = {
    plan: numbered?.plan ?? plan,
    ranges: !files && !paged,
    remote: !files && remote,
    located,
  }
  if (!isParquet && fitsInBuffer(requested, plan))
    return { ...reads, kind: 'buffered', numbers, counting: undefined }
  const inTurns = !isWorkbook && !remote && sortsWideRows(plan)
  // Each turn may read every part, so they are not fetched piece by piece.
  const ranges = reads.ranges && (located || !inTurns)
  const many = { ...reads, ranges, located: located || inTurns, inTurns }
  if (!isParquet) return { ...many, kind: 'stream', numbers, paged }
  return { ...many, kind: 'parquet', copies: encoding === undefined ? copies(plan) : undefined }
}

/** How few rows are read and the others that match are counted along. */
function chooseCounting(plan: Plan, requested: number, remote: boolean): Strategy {
  const wider = (rows: number) => ({ ...plan, window: { skip: plan.window.skip, top: requested + rows } })
  // All columns of a small table are read sooner than a second statement is planned.
  const located = !remote && !fitsInBuffer(plan.most, plan) && hasPositions(wider(LOOK_AHEAD))
  const looked = wider(!located && isSoonCounted(plan) ? Math.max(plan.most!, LOOK_AHEAD) : LOOK_AHEAD)
  const reads = { plan: looked, ranges: true, remote, located }
  return { ...reads, kind: 'buffered', numbers: undefined, counting: { requested, window: looked.window } }
}

/**
 * Whether all rows that match are read in less time than a second statement takes to count them. Sorting more of them
 * than are wanted would take longer.
 */
function isSoonCounted({ most, rowBytes, order }: Plan): boolean {
  const isSmall = most !== undefined && most <= COUNTED_ROWS && most * rowBytes <= COUNTED_BYTES
  return isSmall && order.length === 0
}

/** How the matching rows are counted. */
export function chooseCount(plan: Plan, remote: boolean): ReadingStrategy {
  return { kind: 'count', plan, ranges: true, remote, located: false }
}

/** Whether few of the first rows are wanted, and the number of all matching rows is not known. */
function mayCount(plan: Plan, requested: number): boolean {
  const { filter, matches, window } = plan
  if (!filter || matches !== undefined || window.last !== undefined) return false
  return fitsInBuffer(requested + LOOK_AHEAD, plan)
}

/** Whether so many rows are small enough to be produced in one go; false if their number is not known. */
function fitsInBuffer(rows: number | undefined, { rowBytes }: Plan): boolean {
  return rows !== undefined && rows <= BUFFERED_ROWS && rows * rowBytes <= BUFFERED_BYTES
}

/** The result can't have more rows than this. */
function mostRows({ result, window, most = Number.POSITIVE_INFINITY }: Plan): number {
  return result ?? Math.min(window.top ?? window.last ?? most, most)
}

/** A strategy as a sentence. */
export function strategyText(strategy: Strategy): string {
  switch (strategy.kind) {
    case 'nothing':
      return 'There are no columns, so nothing is read.'
    case 'count':
      return 'The matching rows are counted.'
    case 'buffered': {
      const how = 'Few rows are fetched at once and written in one piece'
      const { requested = 0, window } = strategy.counting ?? {}
      const counted = window ? `, and counted along if at most ${window.top! - requested - 1} more match` : ''
      return `${how}${counted}${foundFirst(strategy)}.`
    }
    case 'stream': {
      const paged = strategy.paged ? ', and the statement waits for the next page' : ''
      return `Rows are written while they are fetched${someAtATime(strategy)}${paged}${foundFirst(strategy)}.`
    }
    case 'parquet':
      return strategy.copies
        ? 'Compressed pages of the stored files are copied if their layouts agree; otherwise DuckDB writes the file.'
        : `DuckDB writes the file${someAtATime(strategy)}${foundFirst(strategy)}.`
    default:
      return strategy satisfies never
  }
}

function someAtATime({ inTurns }: Turns): string {
  return inTurns ? ', some rows at a time' : ''
}

function foundFirst({ located }: Reads): string {
  return located ? ', after a first statement has found where they are' : ''
}
