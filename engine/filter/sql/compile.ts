import { type ColumnType, quoteLiteral } from '../../types/index.ts'
import { check, type Source } from '../check/check.ts'
import { type Expression, literalOf, type SqlColumn } from '../check/expression.ts'
import { LIMITS, mistyped, tooComplex } from '../errors.ts'
import { Aliases, parseRule } from '../syntax/parse.ts'
import type { Syntax } from '../syntax/tree.ts'
import { ARITHMETIC } from '../tables/arithmetic-rows.ts'
import { columnType, type LiteralValue, typeName, type ValueType } from '../values.ts'
import { comparisonSql, gathered, memberSql, type NullHandling, type SqlWriter } from './comparisons.ts'
import {
  all,
  any,
  atom,
  caseWhen,
  cast,
  comparison,
  duckdb,
  FALSE,
  LEVEL,
  NotTranslatable,
  not,
  orFalse,
  type Sql,
  type SqlDialect,
  TRUE,
} from './dialect.ts'
import { literalText } from './narrow.ts'
import { THE_EXPRESSION, THE_FILTER } from './runtime-errors.ts'

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
    const before = this.parameters.length
    const syntax = parseRule('expression', text, this.aliases)
    const { tree, sql } = this.value({ text, option: 'Filter' }, syntax, columns, 'filter')
    return { tree, sql, parameters: this.parameters.slice(before) }
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

  /** Notes that SQL names columns. */
  noteColumns(columns: readonly Pick<SqlColumn, 'stored'>[]): void {
    for (const { stored } of columns) if (stored !== undefined) this.reads.add(stored)
  }

  /**
   * SQL of a value over the columns, or of a condition, which may stand as an operand of AND.
   * @throws EngineError the same errors as `filter`
   */
  value(
    source: Source,
    syntax: Syntax,
    columns: readonly SqlColumn[],
    kind: 'filter' | 'value' = 'value',
  ): Value & { readonly tree: Expression } {
    const tree = check(syntax, columns, source, this.now, kind)
    const { option } = source
    const subject =
      option === 'Filter' ? THE_FILTER : option === 'Expression' ? THE_EXPRESSION : `$${option.toLowerCase()}`
    const { text, level } = new Compiler(this, subject).sql(tree, kind)
    const sql = level > LEVEL.or ? text : `(${text})`
    if (this.parameters.length > MOST_PARAMETERS) {
      throw tooComplex(`The query holds more than ${MOST_PARAMETERS} values.`)
    }
    this.#expressions += 1
    if (this.#expressions > LIMITS.expressions) {
      throw tooComplex(`The query has more than ${LIMITS.expressions} expressions.`)
    }
    this.#written += sql.length
    this.requireShort(this.#written)
    return { tree, sql, type: tree.type, at: syntax.at }
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

/**
 * The kinds of values that were parsed and whose texts the program writes itself. They are part of the SQL, because a
 * value in the wrong one of many parameters gives a wrong answer without an error.
 */
const OUR_TEXT: ReadonlySet<ValueType['kind']> = new Set([
  'integer',
  'double',
  'decimal',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'duration',
])

class Compiler implements SqlWriter {
  readonly dialect: SqlDialect
  readonly #building: Building
  readonly #subject: string

  /** @param subject what fails if a row fails, as the beginning of a sentence */
  constructor(building: Building, subject: string) {
    this.dialect = building.dialect
    this.#building = building
    this.#subject = subject
  }

  parameter(text: string): Sql {
    return atom(this.#building.parameter(text))
  }

  /** A literal whose text already has the form of its type. */
  typed(text: string, type: ValueType): Sql {
    const form = this.dialect.literal(text, type)
    if (type.kind === 'string') return this.parameter(form)
    const isOurs = OUR_TEXT.has(type.kind)
    return cast(isOurs ? atom(quoteLiteral(form)) : this.parameter(form), this.dialect.type(type))
  }

  sql(node: Expression, nulls: NullHandling): Sql {
    const sql = this.#sql(node, nulls)
    if (sql.text.length > LIMITS.sql) {
      throw tooComplex(
        'The filter grows too long as SQL. Nest fewer divisions, conditions and comparisons of doubles.',
      )
    }
    return sql
  }

  #sql(node: Expression, nulls: NullHandling): Sql {
    switch (node.kind) {
      case 'literal':
        return this.#literal(node.value, node.type)
      case 'column':
        this.#building.noteColumns([node])
        return atom(node.sql)
      case 'path':
        this.#building.noteColumns([node])
        return this.dialect.jsonText(atom(node.sql), this.parameter(node.pointer))
      case 'convert':
        return this.dialect.converted(this.sql(node.operand, 'value'), node.operand.type, node.type)
      case 'logical':
        return this.#logical(node, nulls)
      case 'not':
        return not(this.sql(node.operand, 'value'))
      case 'comparison':
        return comparisonSql(this, node, nulls)
      case 'in':
        return memberSql(this, node, nulls)
      case 'call':
        return this.#call(node, nulls)
      case 'case':
        return caseWhen(
          node.branches.map(({ when, result }) => [this.sql(when, 'filter'), this.sql(result, 'value')]),
        )
      default:
        return node satisfies never
    }
  }

  #literal(value: LiteralValue, type: ValueType): Sql {
    if (value.kind === 'null') return atom('NULL')
    if (value.kind === 'boolean') return value.value ? TRUE : FALSE
    return this.typed(literalText(value, type), type)
  }

  /**
   * DuckDB evaluates conditions in an order that it chooses, so `x ne 0 and 10 div x gt 1` could divide by zero. So the
   * operands that can fail go into a CASE, which evaluates them only where the other operands leave the result open.
   */
  #logical(node: Extract<Expression, { kind: 'logical' }>, nulls: NullHandling): Sql {
    const join = node.operator === 'and' ? all : any
    const operands = gathered(node.operands, node.operator)
    if (nulls === 'filter' && node.operator === 'or' && operands.length > LONGEST_OR) {
      return orFalse(this.#logical({ ...node, operands }, 'value'))
    }
    const parts = operands.map((operand) => this.sql(operand, nulls))
    const risky = parts.filter((part) => part.fallible)
    const safe = parts.filter((part) => !part.fallible)
    if (risky.length === 0 || safe.length === 0) return join(parts)
    const guard = join(safe)
    const rest = join(risky)
    if (node.operator === 'or') {
      return caseWhen([[guard, TRUE]], nulls === 'filter' ? rest : any([guard, rest]))
    }
    if (nulls === 'filter') return all([guard, caseWhen([[guard, rest]], FALSE)])
    return caseWhen([[not(guard), FALSE]], all([guard, rest]))
  }

  #call(node: Extract<Expression, { kind: 'call' }>, nulls: NullHandling): Sql {
    if (nulls === 'filter' && node.name === 'startswith') {
      const range = this.#prefixRange(node.args)
      if (range) return range
    }
    const rendering = node.overload[this.dialect.name]
    if (!rendering) {
      throw new NotTranslatable(`${node.name} of ${node.args.map(({ type }) => typeName(type)).join(', ')}`)
    }
    return rendering(
      node.args.map((arg) => this.sql(arg, 'value')),
      {
        dialect: this.dialect.name,
        subject: this.#subject,
        position: node.at + 1,
        types: node.args.map((arg) => arg.type),
        values: node.args.map(literalOf),
        nullWith: node.args.map(nullWith),
        parameter: (text) => this.parameter(text),
      },
    )
  }

  /** Texts that begin with the same prefix form one range in sorted order, and a range lets DuckDB skip row groups. */
  #prefixRange([text, prefix]: readonly Expression[]): Sql | undefined {
    const value = literalOf(prefix!)
    if (text!.kind !== 'column' || value?.kind !== 'string') return undefined
    const after = nextAfterPrefix(value.value)
    if (after === undefined) return undefined
    const column = this.sql(text!, 'value')
    return all([
      comparison(column, '>=', this.parameter(value.value)),
      comparison(column, '<', this.parameter(after)),
    ])
  }
}

/**
 * SQL of columns such that the expression is null exactly where one of them is null; undefined where other things can
 * make it null too. A guard that tests these columns, rather than repeating the whole expression, keeps the SQL of
 * chained divisions from doubling with each step.
 */
function nullWith(node: Expression): readonly string[] | undefined {
  switch (node.kind) {
    case 'literal':
      return []
    case 'column':
      return [node.sql]
    case 'convert':
      return node.operand.type.kind === 'json' ? undefined : nullWith(node.operand)
    case 'call': {
      if (!Object.hasOwn(ARITHMETIC, node.name)) return undefined
      const parts = node.args.map(nullWith)
      return parts.every((part) => part !== undefined) ? [...new Set(parts.flat())] : undefined
    }
    default:
      return undefined
  }
}

/**
 * The time of DuckDB's optimizer grows with the square of the number of operands of an OR, to minutes for some
 * thousands. It doesn't look into the arguments of a function, so a longer OR is wrapped in coalesce(). That hides the
 * OR from the skipping of row groups as well, but an OR of this length can hardly skip any.
 */
const LONGEST_OR = 64

/**
 * The first text, in the order of code points, that comes after all texts with a prefix; undefined where there is none.
 */
function nextAfterPrefix(prefix: string): string | undefined {
  const characters = [...prefix]
  const last = characters.findLastIndex((character) => character !== '\u{10ffff}')
  if (last < 0) return undefined
  const point = characters[last]!.codePointAt(0)!
  return characters.slice(0, last).join('') + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1)
}
