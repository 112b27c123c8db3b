import { check } from './check/check.ts'
import type { Expression } from './check/expression.ts'
import { type FilterColumn, readsOf } from './check/scope.ts'
import { DEFAULT_LIMITS, type FilterLimits, tooComplex } from './errors.ts'
import { compile } from './sql/compile.ts'
import type { SqlDialect } from './sql/dialect.ts'
import type { Aliases } from './syntax/parse.ts'
import { parse } from './syntax/parse.ts'

export {
  aggregateTable,
  Building,
  readNames,
  readOrderBy,
  readPipeline,
  type SortKey,
  type Step,
  type StepColumn,
  sortKey,
} from './apply/index.ts'
export { check } from './check/check.ts'
export type { Expression } from './check/expression.ts'
export { unknownColumns } from './check/scope.ts'
export { DEFAULT_LIMITS } from './errors.ts'
export { compile } from './sql/compile.ts'
export { NotTranslatable, type SqlDialect } from './sql/dialect.ts'
export { duckdbWithValues } from './sql/duckdb.ts'
export { runtimeFilterError, THE_FILTER } from './sql/runtime-errors.ts'
export { positional, trino } from './sql/trino.ts'
export { Aliases, parse } from './syntax/parse.ts'
export { tokenize } from './syntax/tokens.ts'
export { CASE, CAST, functionTable } from './tables/functions.ts'
export { operatorTable } from './tables/operators.ts'
export { type FilterColumn, type FilterLimits, readsOf }

/** A filter as SQL. */
export interface CompiledFilter {
  /** The filter, every part with its type. */
  readonly tree: Expression
  /** A condition that may stand as an operand of AND. The only text of others in it is the `sql` of the columns. */
  readonly sql: string
  /** Bound as VARCHAR, from `firstParameter` on. */
  readonly parameters: readonly string[]
  /** Names of the columns used, each once, in the order found. */
  readonly columns: readonly string[]
  /** The positions of the stored columns used, each once. */
  readonly reads: readonly number[]
}

/** Options of `compileFilter`. */
export interface FilterOptions {
  /** The number of the first parameter; 1 if not given. */
  readonly firstParameter?: number
  /** What now() returns; called only where the text calls it. */
  readonly now?: () => Date
  readonly limits?: Partial<FilterLimits>
  /** What `@p` stands for. */
  readonly aliases?: Aliases
  /** The database that will run the SQL; DuckDB if not given. */
  readonly dialect?: SqlDialect | undefined
}

/**
 * A `$filter` over a table, from text to SQL:
 *
 *   text ── tokenize, parse ──> tree ── check ──> typed tree ── compile ──> SQL and parameters
 *
 * The SQL expects the session's TimeZone to be UTC.
 * @throws EngineError `invalid_filter`, `filter_too_complex`, `filter_type_error`, `invalid_columns`
 * @throws NotTranslatable where a dialect other than DuckDB's can't express it
 */
export function compileFilter(
  text: string,
  columns: readonly FilterColumn[],
  options: FilterOptions = {},
): CompiledFilter {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  try {
    const syntax = parse(text, { limits, aliases: options.aliases })
    const { tree, columns: used, reads } = check(syntax, columns, { text, now: options.now })
    const { sql, parameters } = compile(tree, {
      firstParameter: options.firstParameter,
      limits,
      dialect: options.dialect,
    })
    return { tree, sql, parameters, columns: used, reads }
  } catch (error) {
    // The default limits prevent this, unless the caller raised them or had little stack left when it called.
    if (error instanceof RangeError && /call stack/i.test(error.message)) {
      throw tooComplex('The filter nests too deeply.')
    }
    throw error
  }
}
