import type { Expression } from '../check/expression.ts'
import type { ValueType } from '../check/value-types.ts'
import { equalsLiteral } from './equals-literal.ts'
import { all, any, atom, caseWhen, comparison, FALSE, orFalse, postfix, type Sql } from './fragments.ts'
import { byKey, type Keyed, narrow } from './narrow.ts'
import type { NullHandling, SqlWriter } from './sql-writer.ts'

/**
 * The longest `IN` list that DuckDB compares value by value. It turns a longer list into a join, and a join gives the
 * rows in any order. Our API promises the order of rows, so longer lists are written in other ways.
 */
const LONGEST_IN = 4
/** Up to this many values, one comparison for each value pays, because each can rule out row groups. */
const LONGEST_CHAIN = 64
/** Bounds for the search tree: few long leaves cost comparisons, many short leaves cost DuckDB's overhead per leaf. */
const SHORTEST_LEAF = 16
const MOST_LEAVES = 300

/** Section 5.1.1.1.11: whether a value equals one of a list. A null in the list equals a null value. */
export function memberSql(
  compiler: SqlWriter,
  node: Extract<Expression, { kind: 'in' }>,
  nulls: NullHandling,
): Sql {
  const { operand, items } = node
  const { type } = operand
  const values = new Map<string, Keyed>()
  for (const item of items) {
    const narrowed = item.kind === 'null' ? undefined : narrow('eq', item, type)
    if (narrowed?.kind === 'compare') values.set(narrowed.text, narrowed)
  }
  const orNull = items.some((item) => item.kind === 'null')
  if (values.size === 0 && !orNull) return FALSE
  const x = compiler.sql(operand, 'value')
  const isNull = postfix(x, 'IS NULL')
  if (values.size === 0) return isNull
  const member = memberOf(compiler, operand, x, [...values.values()], nulls)
  if (orNull) return any([isNull, member])
  return nulls === 'filter' ? member : orFalse(member)
}

function memberOf(
  compiler: SqlWriter,
  operand: Expression,
  x: Sql,
  values: readonly Keyed[],
  nulls: NullHandling,
): Sql {
  const { type } = operand
  const skipping = operand.kind === 'column' && nulls === 'filter'
  if (values.length <= LONGEST_IN || (values.length <= LONGEST_CHAIN && skipping)) {
    const items = values.map(({ text }) => compiler.typed(text, type))
    return items.length === 1 || items.length > LONGEST_IN
      ? any(items.map((item, index) => equalsLiteral(operand, x, item, values[index]!)))
      : comparison(x, 'IN', atom(`(${items.map((item) => item.text).join(', ')})`))
  }
  const sorted = values.toSorted(byKey).map(({ text }) => text)
  const leaf = Math.max(SHORTEST_LEAF, Math.ceil(sorted.length / MOST_LEAVES))
  const tree = new SearchTree(compiler, x, type, leaf, sorted).sql(sorted)
  if (!skipping) return tree
  return all([
    comparison(x, '>=', compiler.typed(sorted[0]!, type)),
    comparison(x, '<=', compiler.typed(sorted.at(-1)!, type)),
    tree,
  ])
}

/** A binary search written out as SQL: each step halves the list, and a short remainder is searched value by value. */
class SearchTree {
  readonly #compiler: SqlWriter
  readonly #x: Sql
  readonly #type: ValueType
  readonly #leaf: number
  readonly #separator: string
  readonly #separatorSql: Sql

  constructor(compiler: SqlWriter, x: Sql, type: ValueType, leaf: number, texts: readonly string[]) {
    this.#compiler = compiler
    this.#x = x
    this.#type = type
    this.#leaf = leaf
    const plain = type.kind !== 'string'
    this.#separator = plain ? ',' : absentFrom(texts)
    this.#separatorSql = plain ? atom("','") : compiler.parameter(this.#separator)
  }

  sql(sorted: readonly string[]): Sql {
    if (sorted.length <= this.#leaf) {
      const joined = this.#compiler.parameter(sorted.join(this.#separator))
      return this.#compiler.dialect.isAmong(this.#x, joined, this.#separatorSql, this.#type)
    }
    const middle = sorted.length >> 1
    const below = comparison(this.#x, '<', this.#compiler.typed(sorted[middle]!, this.#type))
    return caseWhen([[below, this.sql(sorted.slice(0, middle))]], this.sql(sorted.slice(middle)))
  }
}

/** A character that occurs in no text of a list, so that it can separate the texts when they are joined. */
function absentFrom(texts: readonly string[]): string {
  const used = new Set(texts.join(''))
  let point = 0x1f
  while (used.has(String.fromCodePoint(point))) point = point === 0xd7ff ? 0xe000 : point + 1
  return String.fromCodePoint(point)
}
