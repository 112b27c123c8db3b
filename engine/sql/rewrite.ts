import { quoteLiteral } from '../types/index.ts'
import { nearest } from '../util/nearest.ts'
import { INTERNAL, sqlError } from './errors.ts'
import { locationInText, type TreeNode } from './nodes.ts'

function constant(type: string, value: unknown): TreeNode {
  const held = { type: { id: type }, is_null: value === null, ...(value !== null && { value }) }
  return { class: 'CONSTANT', type: 'VALUE_CONSTANT', value: held }
}

/** Makes another node of a node, in its place. */
export function become(node: TreeNode, other: TreeNode): void {
  for (const key of Object.keys(node)) delete node[key]
  Object.assign(node, other)
}

/**
 * Puts IS [NOT] DISTINCT FROM into coalesce(), which changes no value. Below OR, DuckDB would skip row groups of nulls
 * for it (see the known faults of DuckDB). Gives the comparison itself.
 */
export function guardDistinct(node: TreeNode): TreeNode {
  if (!/DISTINCT_FROM$/.test(String(node['type']))) return node
  const { alias, ...comparison } = node
  const children = [comparison, constant('BOOLEAN', false)]
  const named = alias === undefined ? {} : { alias }
  become(node, { class: 'OPERATOR', type: 'OPERATOR_COALESCE', ...named, children })
  return comparison
}

/** The keys of conditions: what they say changes no column. */
const CONDITIONS: ReadonlySet<string> = new Set(['where_clause', 'having', 'qualify'])
/** In a tree, a text that begins so, with a number behind it, stands for a constant that is held apart. */
const HELD = `${INTERNAL}h`

/**
 * Takes the constants out of the conditions of a statement, so that statements that differ only by them have the same
 * columns and the same tree. DuckDB takes longer to write a tree as SQL and to read it again than to find a few rows.
 * Gives the SQL of the constants, for `withConstants`.
 */
export function holdConstants(statement: TreeNode): string[] {
  const held: string[] = []
  if (!JSON.stringify(statement).includes(HELD)) hold(statement, false, held)
  return held
}

function hold(node: TreeNode, inside: boolean, held: string[]): void {
  for (const [key, child] of Object.entries(node)) {
    if (typeof child !== 'object' || child === null) continue
    const inCondition = inside || CONDITIONS.has(key)
    const inner = child as TreeNode
    if (inner['class'] !== 'CONSTANT') hold(inner, inCondition, held)
    // A name of a field, as in (s).a, is a constant without a place.
    else if (inCondition && locationInText(inner) !== undefined) holdOne(inner['value'] as TreeNode, held)
  }
}

function holdOne(constant: TreeNode, held: string[]): void {
  const { type, value } = constant
  const { id } = type as TreeNode
  const isNumber = /^(INTEGER|BIGINT)$/.test(String(id)) && typeof value === 'number' && value >= 0
  if (!isNumber && (id !== 'VARCHAR' || typeof value !== 'string')) return
  become(constant, { type: { id: 'VARCHAR' }, is_null: false, value: `${HELD}${held.length} ${String(id)}` })
  held.push(isNumber ? String(value) : quoteLiteral(String(value)))
}

/** SQL without the constants that are held apart: the pieces between them, and the number of each behind its piece. */
export interface CutSql {
  readonly pieces: readonly string[]
  readonly held: readonly number[]
}

/**
 * Cuts what stands for constants out of SQL, at the places where DuckDB has read it.
 * @param statement DuckDB's tree of the SQL
 * @param count how many constants were taken out
 * @throws EngineError `invalid_sql` if they are not in it as often as they were taken out
 */
export function cutConstants(sql: string, statement: TreeNode, count: number): CutSql {
  if (count === 0) return { pieces: [sql], held: [] }
  const bytes = Buffer.from(sql)
  const found = [...heldIn(statement)].sort((one, other) => one.offset - other.offset)
  const held = found.map(({ text }) => Number.parseInt(text.slice(HELD.length), 10))
  if (held.length !== count || new Set(held).size !== count) throw notAsRead()
  let end = 0
  const pieces = found.map(({ text, offset }) => {
    const piece = bytes.toString('utf8', end, offset)
    end = offset + quoteLiteral(text).length
    return piece
  })
  return { pieces: [...pieces, bytes.toString('utf8', end)], held }
}

/** The constants of a tree that stand for others, and how many bytes are before each. */
function* heldIn(node: TreeNode): Generator<{ readonly text: string; readonly offset: number }> {
  const { class: kind, value } = node
  const text = kind === 'CONSTANT' ? (value as TreeNode)['value'] : undefined
  if (typeof text === 'string' && text.startsWith(HELD)) yield { text, offset: locationInText(node) ?? -1 }
  for (const child of Object.values(node)) {
    if (typeof child === 'object' && child !== null) yield* heldIn(child as TreeNode)
  }
}

/** The SQL with the constants that were taken out of it. */
export function withConstants({ pieces, held }: CutSql, constants: readonly string[]): string {
  return pieces.map((piece, index) => piece + (constants[held[index] ?? -1] ?? '')).join('')
}

/** The error for a statement that DuckDB writes differently than it has read it. */
export function notAsRead() {
  return sqlError('invalid_sql', 'DuckDB can not write this statement as it read it.')
}

/** Values for `$1` and `?` in their order, or for `$name` by their names. */
export type SqlValues = readonly SqlParameter[] | Readonly<Record<string, SqlParameter>>

export type SqlParameter = string | number | bigint | boolean | null

export class SqlParameters {
  readonly #values: ReadonlyMap<string, SqlParameter>
  readonly #unused: Set<string>

  /** @throws EngineError `invalid_sql` */
  constructor(values: SqlValues = []) {
    if (typeof values !== 'object' || values === null) throw wrong()
    const entries = Array.isArray(values)
      ? values.map((value, index) => [String(index + 1), value] as const)
      : Object.entries(values)
    for (const [, value] of entries) {
      const isText = typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
      if (value !== null && !isText && !/^(number|bigint|boolean)$/.test(typeof value)) throw wrong()
    }
    this.#values = new Map(entries)
    this.#unused = new Set(this.#values.keys())
  }

  get(name: string): SqlParameter {
    const value = this.#values.get(name)
    this.#unused.delete(name)
    if (value !== undefined) return value
    const near = nearest(name, this.#values.keys())
    throw sqlError(
      'invalid_sql',
      `There is no value for the parameter $${name}.${near ? ` Is $${near} meant?` : ''}`,
    )
  }

  requireAllUsed(): void {
    const [unused] = this.#unused
    if (unused === undefined) return
    throw sqlError('invalid_sql', `The statement has no parameter $${unused}, for which there is a value.`)
  }
}

export function bindParameter(node: TreeNode, parameters: SqlParameters): void {
  const name = String(node['identifier'])
  const { alias, query_location } = node
  become(node, {
    ...constantOf(name, parameters.get(name)),
    query_location,
    ...(alias !== undefined && { alias }),
  })
}

/** @throws EngineError `invalid_sql` */
function constantOf(name: string, value: SqlParameter): TreeNode {
  if (value === null) return constant('NULL', null)
  if (typeof value === 'boolean') return constant('BOOLEAN', value)
  if (typeof value === 'string') return constant('VARCHAR', value)
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    if (Number.isInteger(value) && Math.abs(value) < 2 ** 64) {
      throw sqlError(
        'invalid_sql',
        `The value of $${name} is a whole number beyond 2^53, whose last digits JavaScript may have changed: send it as text.`,
      )
    }
    if (Number.isFinite(value)) return constant('DOUBLE', value)
    return cast('DOUBLE', String(value))
  }
  const isExact = value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
  return isExact ? constant('BIGINT', Number(value)) : cast('HUGEINT', String(value))
}

function cast(type: string, text: string): TreeNode {
  return { class: 'CAST', type: 'OPERATOR_CAST', child: constant('VARCHAR', text), cast_type: { id: type } }
}

function wrong() {
  return sqlError(
    'invalid_sql',
    'parameters must be a list, or an object by name, of texts, numbers, true, false and null.',
  )
}
