import { type Expression, literalOf } from '../check/expression.ts'
import { LIMITS, tooComplex } from '../errors.ts'
import { ARITHMETIC } from '../tables/arithmetic-rows.ts'
import { type LiteralValue, typeName, type ValueType } from '../values.ts'
import { comparisonSql, memberSql, type NullHandling, type SqlWriter } from './comparisons.ts'
import {
  all,
  any,
  atom,
  caseWhen,
  cast,
  comparison,
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
import { THE_FILTER } from './runtime-errors.ts'

/** What the expressions of one query share. */
export interface CompileContext {
  readonly dialect: SqlDialect
  /** SQL of a new parameter, bound as VARCHAR. */
  parameter(text: string): string
}

/**
 * Turns a checked tree into SQL that may stand as an operand of AND.
 * @param nulls where the SQL will stand: as an operand of AND, or as a value of its own
 * @param subject what fails if a row fails, as the beginning of a sentence
 * @throws EngineError `filter_too_complex` where the SQL would grow beyond its limit
 * @throws NotTranslatable where a dialect other than DuckDB's can't express the tree
 */
export function compile(
  tree: Expression,
  context: CompileContext,
  nulls: NullHandling = 'filter',
  subject = THE_FILTER,
): string {
  const { text, level } = new Compiler(context, subject).sql(tree, nulls)
  return level > LEVEL.or ? text : `(${text})`
}

class Compiler implements SqlWriter {
  readonly dialect: SqlDialect
  readonly #context: CompileContext
  readonly #subject: string

  constructor(context: CompileContext, subject: string) {
    this.dialect = context.dialect
    this.#context = context
    this.#subject = subject
  }

  parameter(text: string): Sql {
    return atom(this.#context.parameter(text))
  }

  /** A parameter for a literal whose text already has the form of its type. */
  typed(text: string, type: ValueType): Sql {
    const parameter = this.parameter(this.dialect.literal(text, type))
    return type.kind === 'string' ? parameter : cast(parameter, this.dialect.type(type))
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
        return atom(node.sql)
      case 'path':
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
 * Turns `x eq 1 or x eq 2` into `x in (1, 2)`, and `x ne 1 and x ne 2` into `not (x in (1, 2))`, because a list can be
 * searched, while a chain is evaluated comparison by comparison. Both forms give the same result where x is null, too.
 */
function gathered(operands: readonly Expression[], joined: 'and' | 'or'): readonly Expression[] {
  const operator = joined === 'or' ? 'eq' : 'ne'
  const lists = Map.groupBy(
    operands.filter((operand) => comparesWithLiteral(operand, operator)),
    ({ left }) => left.name,
  )
  return operands.flatMap((operand): readonly Expression[] => {
    const list = comparesWithLiteral(operand, operator) ? lists.get(operand.left.name)! : []
    if (list.length < 2) return [operand]
    // The list takes the place of its first comparison; the other comparisons of the list are dropped.
    if (operand !== list[0]) return []
    const { left, type, at } = list[0]!
    const member: Expression = {
      kind: 'in',
      operand: left,
      items: list.map(({ right }) => right.value),
      type,
      at,
    }
    return [joined === 'or' ? member : { kind: 'not', operand: member, type, at }]
  })
}

type Of<Kind extends Expression['kind']> = Extract<Expression, { kind: Kind }>

function comparesWithLiteral(
  node: Expression,
  operator: 'eq' | 'ne',
): node is Of<'comparison'> & { left: Of<'column'>; right: Of<'literal'> } {
  return (
    node.kind === 'comparison' &&
    node.operator === operator &&
    node.left.kind === 'column' &&
    node.right.kind === 'literal'
  )
}

/**
 * The first text, in the order of code points, that comes after all texts with a prefix; undefined where there is none.
 */
function nextAfterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0)!)
  while (points.length > 0) {
    const last = points.pop()!
    if (last < 0x10ffff) return fromPoints(points) + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1)
  }
  return undefined
}

function fromPoints(points: readonly number[]): string {
  return points.map((point) => String.fromCodePoint(point)).join('')
}
