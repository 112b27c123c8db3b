/**
 * The nodes of DuckDB's tree of a SELECT that users may write, and for each the keys that it may have. A key says how its
 * value is checked. Whatever is not here is refused: a new version of DuckDB may add what we know nothing about.
 */
export type Kind =
  /** Names, numbers and flags, without meaning for what is read. */
  | 'data'
  /** An expression, a list of expressions, or a list of lists. */
  | 'expression'
  /** A function in place of a table. */
  | 'call'
  /** A query node; a list of them; or an object with a `node`. */
  | 'query'
  | 'statement'
  | 'table'
  /** Common table expressions, which the queries below can name. */
  | 'ctes'
  /** Names of columns or of new columns; they are spelt as the tables spell them. */
  | 'names'
  /** An object or a list of objects with these keys. */
  | { readonly [key: string]: Kind }

type Keys = Readonly<Record<string, Kind>>

/** The nodes of a table with keys that all of them may have. */
function withKeys(common: Keys, nodes: Readonly<Record<string, Keys>>): Readonly<Record<string, Keys>> {
  return Object.fromEntries(Object.entries(nodes).map(([name, keys]) => [name, { ...common, ...keys }]))
}

const ORDERS = { type: 'data', null_order: 'data', expression: 'expression' } as const

/** ORDER BY, LIMIT and DISTINCT. */
const MODIFIER = {
  type: 'data',
  limit: 'expression',
  offset: 'expression',
  orders: ORDERS,
  distinct_on_targets: 'expression',
} as const

export const QUERIES = withKeys(
  { type: 'data' },
  {
    SELECT_NODE: {
      modifiers: MODIFIER,
      cte_map: 'ctes',
      select_list: 'expression',
      from_table: 'table',
      where_clause: 'expression',
      group_expressions: 'expression',
      group_sets: 'data',
      aggregate_handling: 'data',
      having: 'expression',
      sample: 'data',
      qualify: 'expression',
    },
    SET_OPERATION_NODE: {
      modifiers: MODIFIER,
      cte_map: 'ctes',
      setop_type: 'data',
      setop_all: 'data',
      left: 'query',
      right: 'query',
    },
    RECURSIVE_CTE_NODE: {
      modifiers: MODIFIER,
      cte_map: 'ctes',
      cte_name: 'data',
      union_all: 'data',
      left: 'query',
      right: 'query',
      aliases: 'names',
      key_targets: 'expression',
    },
  },
)

const REFERENCE = { alias: 'names', sample: 'data', column_name_alias: 'names' } as const

export const TABLES = withKeys(
  { type: 'data' },
  {
    BASE_TABLE: {
      ...REFERENCE,
      schema_name: 'data',
      catalog_name: 'data',
      table_name: 'data',
      at_clause: { unit: 'data', expr: 'expression' },
    },
    SUBQUERY: { ...REFERENCE, subquery: 'statement' },
    JOIN: {
      ...REFERENCE,
      left: 'table',
      right: 'table',
      condition: 'expression',
      join_type: 'data',
      ref_type: 'data',
      using_columns: 'names',
    },
    TABLE_FUNCTION: { ...REFERENCE, function: 'call', with_ordinality: 'data' },
    EXPRESSION_LIST: { ...REFERENCE, values: 'expression' },
    EMPTY: { ...REFERENCE },
    PIVOT: {
      ...REFERENCE,
      source: 'table',
      aggregates: 'expression',
      unpivot_names: 'names',
      include_nulls: 'data',
      groups: 'names',
      pivots: {
        pivot_expressions: 'expression',
        unpivot_names: 'names',
        entries: { values: 'data', alias: 'names', star_expr: 'expression', expr: 'expression' },
      },
    },
    // DESCRIBE and SUMMARIZE of a query or a table; SHOW TABLES and the like have no query.
    SHOW_REF: { ...REFERENCE, query: 'query', show_type: 'data' },
  },
)

const CALL = {
  function_name: 'data',
  schema: 'names',
  catalog: 'names',
  children: 'expression',
  distinct: 'data',
} as const

/** By class; their type says more. */
export const EXPRESSIONS = withKeys(
  { class: 'data', type: 'data', alias: 'names' },
  {
    COLUMN_REF: { column_names: 'names' },
    CONSTANT: { value: 'data' },
    FUNCTION: { ...CALL, filter: 'expression', order_bys: MODIFIER, is_operator: 'data' },
    WINDOW: {
      ...CALL,
      partitions: 'expression',
      orders: ORDERS,
      arg_orders: ORDERS,
      start: 'data',
      end: 'data',
      start_expr: 'expression',
      end_expr: 'expression',
      offset_expr: 'expression',
      default_expr: 'expression',
      filter_expr: 'expression',
      ignore_nulls: 'data',
      exclude_clause: 'data',
    },
    CAST: { child: 'expression', cast_type: 'data', try_cast: 'data' },
    COMPARISON: { left: 'expression', right: 'expression' },
    CONJUNCTION: { children: 'expression' },
    OPERATOR: { children: 'expression' },
    CASE: { case_checks: { when_expr: 'expression', then_expr: 'expression' }, else_expr: 'expression' },
    BETWEEN: { input: 'expression', lower: 'expression', upper: 'expression' },
    SUBQUERY: { subquery: 'statement', subquery_type: 'data', child: 'expression', comparison_type: 'data' },
    STAR: {
      relation_name: 'names',
      exclude_list: 'names',
      qualified_exclude_list: { schema: 'names', table: 'names', column: 'names' },
      replace_list: { key: 'names', value: 'expression' },
      rename_list: { key: { schema: 'names', table: 'names', column: 'names' }, value: 'names' },
      columns: 'data',
      expr: 'expression',
    },
    PARAMETER: { identifier: 'data' },
    COLLATE: { child: 'expression', collation: 'data' },
    LAMBDA: { lhs: 'expression', expr: 'expression', syntax_type: 'data' },
    POSITIONAL_REFERENCE: { index: 'data' },
  },
)

export const STATEMENT: Keys = { node: 'query', named_param_map: 'data' }
