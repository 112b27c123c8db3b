import { nearest } from '../util/nearest.ts'
import { INTERNAL, sqlError } from './errors.ts'
import {
  ALLOWED_FUNCTIONS,
  EXPRESSIONS,
  type Kind,
  locationInText,
  QUERIES,
  STATEMENT,
  TABLE_FUNCTIONS,
  TABLES,
  type TreeNode,
  VOLATILE_FUNCTIONS,
} from './nodes.ts'
import { bindParameter, guardDistinct, type SqlParameters } from './rewrite.ts'

/** A table that a statement names, and its node. */
export interface TableReference {
  readonly node: TreeNode
  /** Whose the repository is, if the statement says so. */
  readonly owner: string | undefined
  readonly repository: string | undefined
  readonly name: string
  readonly position: number | undefined
}

/** What was found in a tree that has only what is allowed. */
export interface Checked extends Readonly<Omit<Walk, 'keys'>> {
  readonly statement: TreeNode
}

/** The deepest nesting of nodes, each of which takes some frames of the stack. DuckDB refuses more than 1,000. */
const MOST_DEPTH = 500
const TOO_DEEP = 'The statement is nested too deeply.'

/** Keys by which queries, tables and functions could be hidden in what we take for data. */
const NOT_IN_DATA = ['class', 'node', 'from_table', 'table_name', 'function_name', 'schema', 'catalog']

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^(read_|parquet_|sniff_|glob$|arrow_scan|seq_scan)/, 'SQL reads datasets and no files'],
  [/^(duckdb_|pragma_|pg_|has_|current_|getenv|getvariable|which_)/, 'settings and catalogs can not be read'],
  [/^(query|query_table|json_(execute|de)?serialize.*)$/, 'a text can not be run as SQL'],
  [/sleep|^(nextval|currval|setseed|write_log)$/, 'it waits, or keeps state'],
]

type Scope = ReadonlyMap<string, string>

interface Here {
  /** The names of the common table expressions that can be named here, and ours. */
  readonly scope: Scope
  readonly depth: number
  /** Whether an OR or a NOT is above, in the same query. */
  readonly inOr?: boolean
}

/**
 * Walks the tree of a statement. Queries, tables, functions, expressions and their keys must be known; everything else
 * is refused. The names of common table expressions become our own, and parameters become constants.
 * @throws EngineError `invalid_sql`, `sql_not_allowed`
 */
export function checkTree(statement: TreeNode, parameters: SqlParameters): Checked {
  const walk = new Walk(parameters)
  try {
    walk.keys(statement, STATEMENT, { scope: new Map(), depth: 0 })
  } catch (error) {
    throw error instanceof RangeError ? sqlError('invalid_sql', TOO_DEEP) : error
  }
  parameters.requireAllUsed()
  return { ...walk, statement }
}

class Walk {
  readonly tables: TableReference[] = []
  /** Where names of columns are: the object or list, and the key. */
  readonly names: [holder: TreeNode, key: string][] = []
  /** Columns named with at least three names, the first of which may be that of a repository. */
  readonly qualified: TreeNode[] = []
  /** Whether the same rows can give another answer. */
  volatile = false
  /** Whether rows are sorted, and values cast: DuckDB's top-N must not sort by a cast (duckdb#25158). */
  sorts = false
  casts = false
  /** Whether columns are read that are not named, by `*` for instance. */
  stars = false
  /** Whether some query in it has a WHERE. */
  filters = false
  /** How many tables, common table expressions and table functions are read, each as often as it is named. */
  sources = 0
  readonly #parameters: SqlParameters
  /** How many common table expressions have a name of ours. */
  #named = 0

  constructor(parameters: SqlParameters) {
    this.#parameters = parameters
  }

  keys(node: TreeNode, kinds: Readonly<Record<string, Kind>>, here: Here): void {
    if (here.depth > MOST_DEPTH) throw sqlError('invalid_sql', TOO_DEEP)
    for (const [key, value] of Object.entries(node)) {
      if (key === 'query_location') continue
      const kind = Object.hasOwn(kinds, key) ? kinds[key] : undefined
      if (kind === undefined) throw unsupported(node, key)
      this.#value(node, key, value, kind, here)
    }
  }

  #value(holder: TreeNode, key: string, value: unknown, kind: Kind, here: Here): void {
    if (kind === 'data') {
      checkData(value)
      return
    }
    if (typeof value !== 'object' || value === null) {
      if (kind !== 'names' || typeof value !== 'string') throw unsupported(holder, key)
      this.names.push([holder, key])
      return
    }
    if (Array.isArray(value)) {
      const list = value as unknown as TreeNode
      for (const [index, item] of value.entries()) this.#value(list, String(index), item, kind, here)
      return
    }
    const node = value as TreeNode
    const below = { ...here, depth: here.depth + 1 }
    const outside = { ...below, inOr: false }
    if (typeof kind === 'object') {
      if (Array.isArray(node['orders']) && node['orders'].length > 0) this.sorts = true
      this.keys(node, kind, below)
    } else if (kind === 'expression') this.#expression(node, below)
    else if (kind === 'call') this.#call(node, outside)
    else if (kind === 'statement') this.keys(node, STATEMENT, outside)
    else if (kind === 'query') this.#query(node, outside)
    else if (kind === 'table') this.#table(node, outside)
    else throw unsupported(node, kind)
  }

  #query(node: TreeNode, outer: Here): void {
    const kinds = kindsOf(QUERIES, node, node['type'])
    if (node['type'] === 'RECURSIVE_CTE_NODE') throw unsupported(node, 'type')
    const { cte_map: map, ...rest } = node
    const here = this.#ctes((map as TreeNode | undefined)?.['map'], outer)
    if (rest['sample']) this.#sampled(rest['sample'] as TreeNode)
    if (rest['where_clause']) this.filters = true
    this.keys(rest, kinds, here)
  }

  /** Checks common table expressions and gives them names of ours, each visible to those behind it. */
  #ctes(list: unknown, outer: Here): Here {
    let here = outer
    for (const entry of (list ?? []) as { key: string; value: TreeNode }[]) {
      const { query, ...value } = entry.value
      const name = `${INTERNAL}c${++this.#named}`
      const inner = { ...here, scope: new Map([...here.scope, [entry.key.toLowerCase(), name]]) }
      this.keys(value, { aliases: 'names', materialized: 'data', key_targets: 'expression' }, here)
      const { node, ...others } = query as { node: TreeNode }
      this.keys(others, STATEMENT, here)
      if (node['type'] === 'RECURSIVE_CTE_NODE') this.#recursive(node, entry.key, name, here, inner)
      else this.#query(node, here)
      entry.key = name
      here = inner
    }
    return here
  }

  /** Only the second query of a recursive expression sees the expression itself. */
  #recursive(node: TreeNode, key: string, name: string, outer: Here, inner: Here): void {
    if (node['cte_name'] !== key) throw unsupported(node, 'cte_name')
    const { left, right, cte_map: map, ...rest } = node
    if ((map as TreeNode | undefined)?.['map']) throw unsupported(node, 'cte_map')
    const depth = outer.depth + 1
    this.#query(left as TreeNode, { ...outer, depth })
    this.#query(right as TreeNode, { ...inner, depth })
    this.keys(rest, kindsOf(QUERIES, node, node['type']), outer)
    node['cte_name'] = name
  }

  #table(node: TreeNode, here: Here): void {
    const { type } = node
    const kinds = kindsOf(TABLES, node, type)
    if (node['sample']) this.#sampled(node['sample'] as TreeNode)
    if (type === 'SHOW_REF' && !(node['query'] && /^(DESCRIBE|SUMMARY)$/.test(String(node['show_type']))))
      throw sqlError(
        'sql_not_allowed',
        'SHOW is not allowed: settings and catalogs can not be read.',
        locationInText(node),
      )
    if (node['show_type'] === 'SUMMARY') this.stars = true
    if (type === 'BASE_TABLE' || type === 'TABLE_FUNCTION') this.sources += 1
    if (type === 'BASE_TABLE') this.#reference(node, here.scope)
    this.keys(node, kinds, here)
  }

  #reference(node: TreeNode, scope: Scope): void {
    const name = String(node['table_name'])
    const { schema_name: schema, catalog_name: catalog } = node
    node['alias'] ??= name
    const cte = schema || catalog || node['at_clause'] ? undefined : scope.get(name.toLowerCase())
    if (cte) {
      node['table_name'] = cte
      return
    }
    const [owner, repository] = [catalog, schema].map((part) => (part ? String(part) : undefined))
    this.tables.push({ node, owner, repository, name, position: locationInText(node) })
  }

  #sampled({ seed }: TreeNode): void {
    if (Number(seed ?? -1) < 0) this.volatile = true
  }

  #expression(node: TreeNode, here: Here): void {
    const kinds = kindsOf(EXPRESSIONS, node, node['class'])
    switch (node['class']) {
      case 'PARAMETER':
        bindParameter(node, this.#parameters)
        return
      case 'FUNCTION':
      case 'WINDOW':
        this.#function(node, ALLOWED_FUNCTIONS)
        break
      case 'COLUMN_REF': {
        const names = node['column_names'] as string[]
        if (names.length === 1 && VOLATILE_FUNCTIONS.has(names[0]!.toLowerCase())) this.volatile = true
        if (names.length > 2) this.qualified.push(node)
        break
      }
      case 'CAST':
        if ((node['child'] as TreeNode)['class'] !== 'CONSTANT') this.casts = true
        break
      case 'STAR':
        this.stars = true
        break
      case 'COMPARISON':
        if (here.inOr) node = guardDistinct(node)
        break
    }
    const isOr = node['type'] === 'CONJUNCTION_OR' || node['type'] === 'OPERATOR_NOT'
    this.keys(node, kinds, isOr ? { ...here, inOr: true } : here)
  }

  #call(node: TreeNode, here: Here): void {
    if (node['class'] !== 'FUNCTION') throw unsupported(node, 'class')
    this.#function(node, TABLE_FUNCTIONS)
    this.keys(node, EXPRESSIONS['FUNCTION']!, here)
  }

  #function(node: TreeNode, allowed: ReadonlySet<string>): void {
    const name = String(node['function_name']).toLowerCase()
    if (VOLATILE_FUNCTIONS.has(name)) this.volatile = true
    if (allowed.has(name)) return
    const reason = REASONS.find(([pattern]) => pattern.test(name))?.[1]
    const near = nearest(name, allowed)
    const where = allowed === TABLE_FUNCTIONS ? ' after FROM' : ''
    const why = reason ? ` is not allowed: ${reason}.` : ` is unknown or not allowed${where}.`
    const hint = !reason && near ? ` Did you mean ${near}?` : ''
    throw sqlError('sql_not_allowed', `The function ${name}${why}${hint}`, locationInText(node))
  }
}

function kindsOf(
  table: Readonly<Record<string, Readonly<Record<string, Kind>>>>,
  node: TreeNode,
  name: unknown,
): Readonly<Record<string, Kind>> {
  if (typeof name === 'string' && Object.hasOwn(table, name)) return table[name]!
  throw unsupported(node, String(name))
}

function checkData(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    if (!Array.isArray(value) && NOT_IN_DATA.includes(key)) throw unsupported(value as TreeNode, key)
    checkData(inner)
  }
}

function unsupported(node: TreeNode, what: string) {
  const type = node['type'] ?? node['class'] ?? what
  return sqlError(
    'sql_not_allowed',
    `${String(type)} with ${what} is not supported here.`,
    locationInText(node),
  )
}
