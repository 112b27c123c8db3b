import { nearest } from '../util/known-options.ts'
import { sqlError } from './errors.ts'
import type { TreeNode } from './nodes.ts'
import { become, constant } from './rewrite.ts'

/** Values for `$1` and `?` in their order, or for `$name` by their names. */
export type SqlValues = readonly SqlParameter[] | Readonly<Record<string, SqlParameter>>

export type SqlParameter = string | number | bigint | boolean | null

/** The values of a statement's parameters. */
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

/** Makes a constant of a parameter. */
export function bindParameter(node: TreeNode, parameters: SqlParameters): void {
  const value = parameters.get(String(node['identifier']))
  const { alias, query_location } = node
  become(node, { ...constantOf(value), query_location, ...(alias !== undefined && { alias }) })
}

function constantOf(value: SqlParameter): TreeNode {
  if (value === null) return constant('NULL', null)
  if (typeof value === 'boolean') return constant('BOOLEAN', value)
  if (typeof value === 'string') return constant('VARCHAR', value)
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
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
