import type { ColumnType } from '../../types/index.ts'
import { check, checkExpression } from '../check/check.ts'
import type { Expression } from '../check/expression.ts'
import { always, readsOf } from '../check/scope.ts'
import { typeName, type ValueType } from '../check/value-types.ts'
import { DEFAULT_LIMITS, type FilterLimits, mistyped, tooComplex } from '../errors.ts'
import { compile } from '../sql/compile.ts'
import type { SqlDialect } from '../sql/dialect.ts'
import { duckdb } from '../sql/duckdb.ts'
import { Aliases } from '../syntax/parse.ts'
import type { Syntax } from '../syntax/tree.ts'
import type { StepColumn } from './steps.ts'

/** An expression over a relation, with its type, as SQL. */
export interface Value {
  readonly sql: string
  readonly type: ValueType
  readonly at: number
}

/**
 * State that the steps of one query share: the parameters, which are numbered across all steps, the names of new
 * columns, the current time and the aliases.
 */
export class Building {
  /** Bound as VARCHAR, from 1 on. */
  readonly parameters: string[] = []
  /** The positions of the stored columns that are named in SQL. */
  readonly reads = new Set<number>()
  readonly limits: FilterLimits
  /** What now() returns. */
  readonly now: () => Date
  readonly aliases: Aliases
  /** The database that will run the SQL. */
  readonly dialect: SqlDialect
  #names = 0
  /** The expressions so far, and the characters of their SQL. */
  #expressions = 0
  #written = 0

  constructor(
    options: {
      readonly now?: () => Date
      readonly aliases?: Aliases
      readonly limits?: FilterLimits
      readonly dialect?: SqlDialect | undefined
    } = {},
  ) {
    this.now = options.now ?? always(new Date())
    this.aliases = options.aliases ?? new Aliases()
    this.limits = options.limits ?? DEFAULT_LIMITS
    this.dialect = options.dialect ?? duckdb
  }

  /** A name in SQL that no other column has. */
  newName(): string {
    this.#names++
    return `x${this.#names}`
  }

  /** SQL of a new parameter. */
  parameter(text: string): string {
    this.parameters.push(text)
    return this.dialect.parameter(this.parameters.length, text).text
  }

  /** Notes that SQL names columns outside of expressions. */
  noteColumns(columns: readonly StepColumn[]): void {
    this.#noteReads(readsOf(columns))
  }

  #noteReads(positions: readonly number[]): void {
    for (const position of positions) this.reads.add(position)
  }

  /** SQL of a condition over the columns. @throws EngineError the same errors as `compileFilter` */
  condition(source: Source, syntax: Syntax, columns: readonly StepColumn[]): string {
    const { tree, reads } = check(syntax, columns, { ...source, now: this.now })
    this.#noteReads(reads)
    return this.#compiled(tree, source)
  }

  /** SQL of a value over the columns. @throws EngineError the same errors as `compileFilter` */
  value(source: Source, syntax: Syntax, columns: readonly StepColumn[]): Value {
    const { tree, reads } = checkExpression(syntax, columns, { ...source, now: this.now })
    this.#noteReads(reads)
    return { sql: this.#compiled(tree, source, 'value'), type: tree.type, at: syntax.at }
  }

  /** @throws EngineError `filter_too_complex` where the SQL of the query has more characters than the limit */
  requireShort(length: number): void {
    if (length > this.limits.sql) {
      throw tooComplex(
        `The query grows to ${length} characters of SQL; the limit is ${this.limits.sql}. Write fewer or shorter expressions.`,
      )
    }
  }

  #compiled(tree: Expression, { option }: Source, nulls: 'filter' | 'value' = 'filter'): string {
    const { sql, parameters } = compile(tree, {
      firstParameter: this.parameters.length + 1,
      limits: this.limits,
      dialect: this.dialect,
      subject: `$${option.toLowerCase()}`,
      nulls,
    })
    this.parameters.push(...parameters)
    if (this.parameters.length > MOST_PARAMETERS) {
      throw tooComplex(`The query holds more than ${MOST_PARAMETERS} values.`)
    }
    this.#expressions += 1
    if (this.#expressions > this.limits.expressions) {
      throw tooComplex(`The query has more than ${this.limits.expressions} expressions.`)
    }
    this.#written += sql.length
    this.requireShort(this.#written)
    return sql
  }
}

const MOST_PARAMETERS = 60_000

/** The text that expressions are parts of, and the word with which messages about its columns begin: `Apply`. */
export interface Source {
  readonly text: string
  readonly option: 'Apply' | 'Compute' | 'Orderby'
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
    value: `CAST(${sql} AS ${type.kind === 'null' ? 'VARCHAR' : dialect.type(type)})`,
  }
}

/** The type of a column that holds the value. A column of nothing but null becomes text. */
export function columnType(type: ValueType): ColumnType {
  switch (type.kind) {
    case 'null':
    case 'json':
      return 'string'
    case 'decimal':
      return typeName(type) as ColumnType
    case 'duration':
      throw new TypeError('no column holds a duration')
    default:
      return type.kind
  }
}
