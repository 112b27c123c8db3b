import type { ColumnType } from '../../types/index.ts'
import { check } from '../check/check.ts'
import { type Expression, readsOf, type SqlColumn } from '../check/expression.ts'
import { LIMITS, mistyped, tooComplex } from '../errors.ts'
import { compile } from '../sql/compile.ts'
import { duckdb, type SqlDialect } from '../sql/dialect.ts'
import { Aliases, parse } from '../syntax/parse.ts'
import type { Syntax } from '../syntax/tree.ts'
import { columnType, type ValueType } from '../values.ts'

/** An expression over a relation, with its type, as SQL. */
export interface Value {
  readonly sql: string
  readonly type: ValueType
  readonly at: number
}

/** A filter as SQL. */
export interface CompiledFilter {
  /** The filter, every part with its type. */
  readonly tree: Expression
  /** A condition that may stand as an operand of AND. The only text of others in it is the `sql` of the columns. */
  readonly sql: string
  /** Bound as VARCHAR, in the place that they have among the parameters of the query. */
  readonly parameters: readonly string[]
  /** The positions of the stored columns used, each once. */
  readonly reads: readonly number[]
}

export interface FilterOptions {
  /** What now() returns; called only where a text calls it. */
  readonly now?: () => Date
  /** What `@p` stands for. */
  readonly aliases?: Aliases
  /** The database that will run the SQL; DuckDB if not given. */
  readonly dialect?: SqlDialect | undefined
}

/** The SQL of a filter alone. @throws as `Building.filter` does */
export function compileFilter(
  text: string,
  columns: readonly SqlColumn[],
  options?: FilterOptions,
): CompiledFilter {
  return new Building(options).filter(text, columns)
}

/**
 * State that the steps, the filter and the order of one query share: the parameters, which are numbered across all of
 * them, the names of new columns, the current time and the aliases.
 */
export class Building {
  /** Bound as VARCHAR, from 1 on. */
  readonly parameters: string[] = []
  /** The positions of the stored columns that are named in SQL. */
  readonly reads = new Set<number>()
  /** What now() returns. */
  readonly now: () => Date
  readonly aliases: Aliases
  /** The database that will run the SQL. */
  readonly dialect: SqlDialect
  #names = 0
  /** The expressions so far, and the characters of their SQL. */
  #expressions = 0
  #written = 0

  constructor({ now, aliases = new Aliases(), dialect = duckdb }: FilterOptions = {}) {
    const moment = new Date()
    this.now = now ?? (() => moment)
    this.aliases = aliases
    this.dialect = dialect
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
  filter(text: string, columns: readonly SqlColumn[]): CompiledFilter {
    const { tree, reads } = check(parse(text, this.aliases), columns, { text, now: this.now })
    this.#noteReads(reads)
    const before = this.parameters.length
    return { tree, sql: compile(tree, this), parameters: this.parameters.slice(before), reads }
  }

  /** A name in SQL that no other column has. */
  newName(): string {
    this.#names++
    return `x${this.#names}`
  }

  /** SQL of a new parameter. */
  parameter(text: string): string {
    this.parameters.push(text)
    return this.dialect.parameter(this.parameters.length, text)
  }

  /** Notes that SQL names columns outside of expressions. */
  noteColumns(columns: readonly SqlColumn[]): void {
    this.#noteReads(readsOf(columns))
  }

  #noteReads(positions: readonly number[]): void {
    for (const position of positions) this.reads.add(position)
  }

  /**
   * SQL of a value over the columns, or of a condition.
   * @throws EngineError the same errors as `filter`
   */
  value(
    source: Source,
    syntax: Syntax,
    columns: readonly SqlColumn[],
    kind: 'filter' | 'value' = 'value',
  ): Value {
    const { tree, reads } = check(syntax, columns, { ...source, now: this.now }, kind)
    this.#noteReads(reads)
    const sql = compile(tree, this, kind, `$${source.option.toLowerCase()}`)
    if (this.parameters.length > MOST_PARAMETERS) {
      throw tooComplex(`The query holds more than ${MOST_PARAMETERS} values.`)
    }
    this.#expressions += 1
    if (this.#expressions > LIMITS.expressions) {
      throw tooComplex(`The query has more than ${LIMITS.expressions} expressions.`)
    }
    this.#written += sql.length
    this.requireShort(this.#written)
    return { sql, type: tree.type, at: syntax.at }
  }

  /** @throws EngineError `filter_too_complex` where the SQL of the query has more characters than the limit */
  requireShort(length: number): void {
    if (length > LIMITS.sql) {
      throw tooComplex(
        `The query grows to ${length} characters of SQL; the limit is ${LIMITS.sql}. Write fewer or shorter expressions.`,
      )
    }
  }
}

const MOST_PARAMETERS = 60_000

/** The text that expressions are parts of, and the word with which messages about its columns begin: `Apply`. */
export interface Source {
  readonly text: string
  readonly option: 'Apply' | 'Compute' | 'Search' | 'Orderby'
}

/** Casts a value to a type that a column can have. @throws EngineError `filter_type_error` for durations */
export function asColumn(
  value: Value,
  { dialect }: Building,
): { readonly type: ColumnType; readonly value: string } {
  const { type, sql, at } = value
  if (type.kind === 'duration') {
    throw mistyped(at, 'a column can’t hold a duration. Write totalseconds(…), which is a number.')
  }
  return {
    type: columnType(type),
    value: `CAST(${sql} AS ${dialect.type(type)})`,
  }
}
