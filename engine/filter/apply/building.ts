import type { ColumnType } from '../../types/index.ts'
import { check, checkExpression } from '../check/check.ts'
import type { Expression } from '../check/expression.ts'
import { typeName, type ValueType } from '../check/value-types.ts'
import { mistyped, tooComplex } from '../errors.ts'
import { DEFAULT_LIMITS, type FilterLimits } from '../limits.ts'
import { compile } from '../sql/compile.ts'
import type { Dialect } from '../sql/dialect.ts'
import { duckdb } from '../sql/duckdb.ts'
import { Aliases } from '../syntax/aliases.ts'
import { parseExpression } from '../syntax/parse.ts'
import type { Token } from '../syntax/tokens.ts'
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
  readonly limits: FilterLimits
  readonly now: Date
  readonly aliases: Aliases
  /** The database that will run the SQL. */
  readonly dialect: Dialect
  #names = 0

  constructor(
    options: {
      readonly now?: Date
      readonly aliases?: Aliases
      readonly limits?: FilterLimits
      readonly dialect?: Dialect | undefined
    } = {},
  ) {
    this.now = options.now ?? new Date()
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
    return `$${this.parameters.length}`
  }

  /** SQL of a condition over the columns. @throws EngineError the same errors as `compileFilter` */
  condition(at: Place, tokens: readonly Token[], columns: readonly StepColumn[]): string {
    const syntax = parseExpression(at.text, tokens, this)
    const { tree } = check(syntax, columns, { ...at, now: this.now })
    return this.#compiled(tree, at)
  }

  /** SQL of a value over the columns. @throws EngineError the same errors as `compileFilter` */
  value(at: Place, tokens: readonly Token[], columns: readonly StepColumn[]): Value {
    const syntax = parseExpression(at.text, tokens, this)
    const tree = checkExpression(syntax, columns, { ...at, now: this.now })
    return { sql: this.#compiled(tree, at, 'value'), type: tree.type, at: syntax.at }
  }

  #compiled(tree: Expression, { option }: Place, place: 'filter' | 'value' = 'filter'): string {
    const { sql, parameters } = compile(tree, {
      firstParameter: this.parameters.length + 1,
      limits: this.limits,
      dialect: this.dialect,
      subject: `$${option.toLowerCase()}`,
      place,
    })
    this.parameters.push(...parameters)
    if (this.parameters.length > MOST_PARAMETERS) throw tooComplex('The query holds too many values.')
    return sql
  }
}

const MOST_PARAMETERS = 60_000

/** The place of an expression: the whole text of the option, and the option's name. */
export interface Place {
  readonly text: string
  /** The word with which messages about columns begin: `Apply contains …`. */
  readonly option: string
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
