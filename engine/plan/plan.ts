import type { Version } from '../catalog/records.ts'
import {
  Aliases,
  Building,
  compileFilter,
  type Expression,
  readPipeline,
  type SortKey,
  type Step,
  type StepColumn,
} from '../filter/index.ts'
import type { Column } from '../types/index.ts'
import { checkOrder, checkSelection, checkWindow, type QueryOptions, type Window } from './options.ts'
import { mayMatch } from './prune.ts'

/** Rows `from` (inclusive) to `to` (exclusive) of one Parquet file; the whole file without them. */
export interface Slice {
  readonly file: string
  /** How many rows of the source come before the file's. */
  readonly first: number
  readonly from?: number
  readonly to?: number
}

/** Where rows come from. */
export type Scan =
  /** Files of ours that may hold what is asked for, of so many, in the order of the rows; columns are `c0`, `c1` … */
  | { readonly kind: 'slices'; readonly slices: readonly Slice[]; readonly of: number }
  /** Rows as a JSON array of arrays, for what never was a file. */
  | { readonly kind: 'inline'; readonly json: string }
  /** Parquet files of somebody else's: a subquery that names the columns and gives each row's position. */
  | { readonly kind: 'foreign'; readonly sql: string }

export type PlanColumn = StepColumn

/**
 * A query as plain data: what is read, what is kept, what comes out. Everything in it has been checked; making SQL of
 * it can't fail.
 */
export interface Plan {
  readonly scan: Scan
  /** What `$apply`, `$compute` and `$search` do with the rows of the scan, one after the other. */
  readonly steps: readonly Step[]
  /** Those of the steps; then come the filter's, then those of the order. */
  readonly stepParameters: readonly string[]
  /** What comes out, in order. */
  readonly columns: readonly PlanColumn[]
  /** Applied to what the steps give. */
  readonly filter?: { readonly sql: string; readonly parameters: readonly string[] }
  readonly order: readonly SortKey[]
  readonly orderParameters: readonly string[]
  /** Applied after filter and order. Already in the slices of the scan where neither is there. */
  readonly window: {
    readonly skip: number
    readonly top?: number | undefined
    readonly last?: number | undefined
  }
  /** All columns of the source, for those who describe the plan. */
  readonly source: readonly PlanColumn[]
  /** Rows that match the filter, where that is known without reading. */
  readonly matches: number | undefined
  /** Rows that come out, where that is known without reading. */
  readonly result: number | undefined
  /** More rows than this can't come out of the steps; undefined where the rows of the source are not known. */
  readonly most: number | undefined
  /** Average bytes of a row, unpacked; chooses buffers. */
  readonly rowBytes: number
}

/** What a plan is made over. */
export interface PlanSource {
  readonly columns: readonly PlanColumn[]
  readonly rows: number | undefined
  readonly rowBytes: number
  /** The scan that gives rows `from` to `to`, or all; without parts in which a filter keeps nothing, where that is known. */
  readonly scan: (from: number, to: number, filter?: Expression) => Scan
}

/**
 * Plans a query: checks options and filter, chooses what must be read.
 * @throws EngineError every error of a query that the data has no part in
 */
export function planQuery(source: PlanSource, options: QueryOptions): Plan {
  const window = checkWindow(options)
  const aliases = new Aliases(options.aliases)
  const building = new Building({ aliases })
  const { steps, columns } = readPipeline(options, source.columns, building)
  const stepParameters = building.parameters.slice()
  const filter =
    options.filter === undefined
      ? undefined
      : compileFilter(options.filter, columns, { firstParameter: stepParameters.length + 1, aliases })
  building.parameters.push(...(filter?.parameters ?? []))
  const order = checkOrder(options.orderBy, columns, building)
  const common = {
    steps,
    stepParameters,
    columns: checkSelection(options.select, columns),
    order,
    orderParameters: building.parameters.slice(stepParameters.length + (filter?.parameters.length ?? 0)),
    source: source.columns,
    most: source.rows === undefined ? undefined : mostAfter(steps, source.rows),
    rowBytes: source.rowBytes,
  }
  aliases.requireAllUsed()
  const rows = steps.every(({ kind }) => kind === 'compute') ? source.rows : undefined
  if (filter || rows === undefined || order.length > 0) {
    return {
      ...common,
      // Behind a step, a column is no longer what the parts hold.
      scan: source.scan(
        0,
        source.rows ?? Number.MAX_SAFE_INTEGER,
        steps.length === 0 ? filter?.tree : undefined,
      ),
      ...(filter && { filter: { sql: filter.sql, parameters: filter.parameters } }),
      window: definedOnly(window),
      matches: filter ? undefined : rows,
      result: filter || rows === undefined ? undefined : resultRows(window, rows),
    }
  }
  // Nothing is dropped or moved, so the window is a range of row numbers, and only its parts are opened.
  const [from, to] = rangeOf(window, rows)
  return { ...common, scan: source.scan(from, to), window: { skip: 0 }, matches: rows, result: to - from }
}

/** Only concat() makes more rows of some, and an aggregate of no rows is one. */
function mostAfter(steps: readonly Step[], rows: number): number {
  return steps.reduce((most, step) => {
    if (step.kind === 'group' && step.keys.length === 0) return 1
    if (step.kind !== 'concat') return most
    return step.branches.reduce((sum, branch) => sum + mostAfter(branch.steps, most), 0)
  }, rows)
}

/** How many rows come out when so many match the filter. */
export function resultRows(window: Plan['window'], matches: number): number {
  if (window.last !== undefined) return Math.min(window.last, matches)
  return Math.min(Math.max(matches - window.skip, 0), window.top ?? Number.POSITIVE_INFINITY)
}

function definedOnly({ skip, top, last }: Window): Plan['window'] {
  return { skip, ...(top !== undefined && { top }), ...(last !== undefined && { last }) }
}

function rangeOf({ skip, top, last }: Window, rows: number): [from: number, to: number] {
  if (last !== undefined) return [Math.max(rows - last, 0), rows]
  const from = Math.min(skip, rows)
  return [from, Math.min(from + (top ?? rows), rows)]
}

/** A version of a dataset as a source: its parts hold the column at position n under the name `cn`. */
export function versionSource(
  version: Version,
  fileOf: (part: Version['parts'][number]) => string,
): PlanSource {
  return {
    columns: physicalColumns(version.columns),
    rows: version.rows,
    rowBytes: version.rows === 0 ? 0 : Math.ceil(version.rawBytes / version.rows),
    scan: (from, to, filter) => {
      const slices: Slice[] = []
      let first = 0
      for (const part of version.parts) {
        const end = first + part.rows
        if (end > from && first < to && (!filter || mayMatch(filter, part))) {
          slices.push({
            file: fileOf(part),
            first,
            ...(from > first && { from: from - first }),
            ...(to < end && { to: to - first }),
          })
        }
        first = end
      }
      return { kind: 'slices', slices, of: version.parts.length }
    },
  }
}

export function physicalColumns(columns: readonly Column[]): PlanColumn[] {
  return columns.map(({ name, type }, index) => ({ name, type, sql: `c${index}` }))
}
