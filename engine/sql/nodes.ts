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
      setop_type: 'data',
      setop_all: 'data',
      left: 'query',
      right: 'query',
    },
    RECURSIVE_CTE_NODE: {
      modifiers: MODIFIER,
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

/**
 * The functions that a user's SQL may call; no others. None of them reads files, settings, secrets or catalogs, runs a
 * text as SQL, keeps state between two statements, or waits. Macros of DuckDB that only calculate are among them.
 */
const SCALAR = `
  % & && * ** + - -> ->> / // <-> << <=> <@ >> @ @> ^ ^@ | || ~ ~~ ~~* ~~~ !__postfix !~~ !~~*
  abs acos acosh add age alias apply array_aggr array_aggregate array_append array_apply array_cat array_concat
  array_contains array_cosine_distance array_cosine_similarity array_cross_product array_distance array_distinct
  array_dot_product array_extract array_filter array_grade_up array_has array_has_all array_has_any array_indexof
  array_inner_product array_intersect array_length array_negative_dot_product array_negative_inner_product
  array_pop_back array_pop_front array_position array_prepend array_push_back array_push_front array_reduce array_resize
  array_reverse array_reverse_sort array_select array_slice array_sort array_to_json array_to_string
  array_to_string_comma_default array_transform array_unique array_value array_where array_zip ascii asin asinh atan
  atan2 atanh bar base64 bin bit_count bit_length bit_position bitstring cardinality cbrt ceil ceiling century char_length
  character_length chr concat concat_ws constant_or_null contains cos cosh cot damerau_levenshtein date_add date_diff
  date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear
  days_in_month decade decode degrees divide editdist3 element_at encode ends_with enum_code enum_first enum_last
  enum_range enum_range_boundary epoch epoch_ms epoch_ns epoch_us equi_width_bins era even exp factorial fdiv filter
  flatten floor fmod format format_bytes formatreadabledecimalsize formatreadablesize from_base64 from_binary from_hex
  from_json from_json_strict gamma gcd generate_series generate_subscripts get_bit geomean geometric_mean grade_up
  greatest greatest_common_divisor hamming hash hex hour ilike_escape instr isfinite isinf isnan isodow isoyear jaccard
  jaro_similarity jaro_winkler_similarity json json_array json_array_length json_contains json_exists json_extract
  json_extract_path json_extract_path_text json_extract_string json_keys json_merge_patch json_object json_pretty
  json_quote json_structure json_transform json_transform_strict json_type json_valid json_value julian last_day lcase lcm
  least least_common_multiple left left_grapheme len length length_grapheme levenshtein lgamma like_escape list_aggr
  list_aggregate list_any_value list_append list_apply list_approx_count_distinct list_avg list_bit_and list_bit_or
  list_bit_xor list_bool_and list_bool_or list_cat list_concat list_contains list_cosine_distance list_cosine_similarity
  list_count list_distance list_distinct list_dot_product list_element list_entropy list_extract list_filter list_first
  list_grade_up list_has list_has_all list_has_any list_histogram list_indexof list_inner_product list_intersect
  list_kurtosis list_kurtosis_pop list_last list_mad list_max list_median list_min list_mode
  list_negative_dot_product list_negative_inner_product list_pack list_position list_prepend list_product list_reduce
  list_resize list_reverse list_reverse_sort list_select list_sem list_skewness list_slice list_sort list_stddev_pop
  list_stddev_samp list_string_agg list_sum list_transform list_unique list_value list_var_pop list_var_samp list_where
  list_zip ln log log10 log2 lower lpad ltrim make_date make_time make_timestamp make_timestamp_ms make_timestamp_ns
  make_timestamptz map map_concat map_contains map_contains_entry map_contains_value map_entries map_extract
  map_extract_value map_from_entries map_keys map_values md5 md5_number md5_number_lower md5_number_upper microsecond
  millennium millisecond minute mismatches mod month monthname multiply nanosecond nextafter nfc_normalize
  normalized_interval not_ilike_escape not_like_escape nullif octet_length ord parse_dirname parse_dirpath
  parse_filename parse_formatted_bytes parse_path pi position pow power prefix printf quarter radians range reduce
  regexp_escape regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array
  repeat replace reverse right right_grapheme round round_even roundbankers row row_to_json rpad rtrim second set_bit
  sha1 sha256 sign signbit sin sinh split split_part sqrt starts_with str_split str_split_regex strftime string_split
  string_split_regex string_to_array strip_accents strlen strpos strptime struct_concat struct_contains struct_extract
  struct_extract_at struct_has struct_indexof struct_insert struct_keys struct_pack struct_position struct_update
  struct_values substr substring substring_grapheme subtract suffix tan tanh time_bucket timezone timezone_hour
  timezone_minute to_base to_base64 to_binary to_centuries to_days to_decades to_hex to_hours to_json to_microseconds
  to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years translate
  trim trunc try_strptime typeof ucase unbin unhex unicode union_extract union_tag union_value unnest unpivot_list upper
  url_decode url_encode uuid_extract_timestamp uuid_extract_version week weekday weekofyear xor year yearweek`

const AGGREGATE = `
  any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_max_nulls_last arg_min
  arg_min_null arg_min_nulls_last argmax argmin array_agg avg bit_and bit_or bit_xor bitstring_agg bool_and bool_or corr
  count count_if count_star countif covar_pop covar_samp entropy favg first fsum group_concat histogram histogram_exact
  json_group_array json_group_object json_group_structure kahan_sum kurtosis kurtosis_pop last list listagg mad max
  max_by mean median min min_by mode product quantile quantile_cont quantile_disc regr_avgx regr_avgy regr_count
  regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy reservoir_quantile sem skewness stddev stddev_pop
  stddev_samp string_agg sum sum_no_overflow sumkahan var_pop var_samp variance wavg weighted_avg`

const WINDOW = `
  cume_dist dense_rank fill first_value lag last_value lead nth_value ntile percent_rank rank rank_dense row_number`

/** Their results differ from one call to the next, so an answer that has them is not kept, and has no ETag. */
const VOLATILE = `
  ago current_date current_localtime current_localtimestamp current_time current_timestamp gen_random_uuid
  get_current_time get_current_timestamp localtime localtimestamp now random today transaction_timestamp uuid uuidv4
  uuidv7`

const names = (text: string) => text.trim().split(/\s+/)

/** By kind, for the documentation. */
export const FUNCTIONS = {
  scalar: names(SCALAR),
  aggregate: names(AGGREGATE),
  window: names(WINDOW),
  'of time and chance': names(VOLATILE),
} as const

/** What may stand after FROM and be called. */
export const TABLE_FUNCTIONS: ReadonlySet<string> = new Set(['generate_series', 'range', 'unnest'])

export const VOLATILE_FUNCTIONS: ReadonlySet<string> = new Set(FUNCTIONS['of time and chance'])

export const ALLOWED_FUNCTIONS: ReadonlySet<string> = new Set(Object.values(FUNCTIONS).flat())

export interface TreeNode {
  [key: string]: unknown
}

/** How many characters are before a node; undefined if it has no place. */
export function locationInText(node: TreeNode): number | undefined {
  const location = node['query_location']
  return typeof location === 'number' && location >= 0 ? location : undefined
}
