export {
  aggregateTable,
  Building,
  type CompiledFilter,
  compileFilter,
  type FilterOptions,
  readNames,
  readOrderBy,
  readPipeline,
  type SortKey,
  type Step,
  sortKey,
} from './apply/index.ts'
export { check } from './check/check.ts'
export { type Expression, readsOf, type SqlColumn } from './check/expression.ts'
export { unknownColumns } from './check/unknown-columns.ts'
export { LIMITS } from './errors.ts'
export { compile } from './sql/compile.ts'
export { duckdbWithValues, NotTranslatable, type SqlDialect } from './sql/dialect.ts'
export { runtimeFilterError, THE_FILTER } from './sql/runtime-errors.ts'
export { positional, trino } from './sql/trino.ts'
export { Aliases, parse } from './syntax/parse.ts'
export { tokenize } from './syntax/tokens.ts'
export { CASE, CAST, functionTable } from './tables/functions.ts'
export { operatorTable } from './tables/operators.ts'
