import { type AggregateRow, aggregateTable, percentile } from '../../../engine/filter/apply/aggregates.ts'
import { atom } from '../../../engine/filter/sql/dialect.ts'
import { THE_FILTER } from '../../../engine/filter/sql/runtime-errors.ts'
import { castTable } from '../../../engine/filter/tables/casts.ts'
import { CASE, CAST, functionTable } from '../../../engine/filter/tables/functions.ts'
import { type OperatorRow, operatorTable, PRECEDENCE } from '../../../engine/filter/tables/operators.ts'
import type { FunctionRow, Overload } from '../../../engine/filter/tables/overloads.ts'
import { decimal, TYPE, typeName, type ValueKind, type ValueType } from '../../../engine/filter/values.ts'

/** The page on operators and functions, as Markdown. It is made from the tables that the filter itself uses. */
export function renderReference(): string {
  return [
    '# Operators and functions of `$filter`',
    'This page is generated from the tables in `tables/`; a test compares them. Names of operators and functions are not case-sensitive. `decimal` means every precision and scale.',
    '## Operators',
    `By precedence, highest first; operators of one group are evaluated from left to right: ${groups()}.`,
    ...operatorTable.map(operatorSection),
    '## Functions',
    'If an argument of a function is null, its result is null.',
    ...functionTable.map(functionSection),
    `### \`${CASE.name}\`\n\n${CASE.about}\n\n    ${CASE.example}\n\n| takes | gives | SQL |\n|---|---|---|\n| pairs of condition and result | the type of the results | \`CASE WHEN x THEN y … END\` |`,
    castSection(),
    '## Methods of aggregation',
    'In `$apply`, as `aggregate(Price with sum as Total)`. `p0` to `p100` are percentiles; rows are counted by `$count as Number`. Nulls are ignored, except by `first` and `last`. Without any values, every method gives null, except `countdistinct`, which gives 0.',
    ...[...aggregateTable, percentile(95)].map(aggregateSection),
    '',
  ].join('\n\n')
}

function aggregateSection(row: AggregateRow): string {
  return `### \`${row.name}\`\n\n${row.about} Takes ${row.takes}.\n\n    ${row.example}`
}

function castSection(): string {
  const rows = castTable.map(({ name, type, overloads }) => {
    const kinds = overloads.map(({ takes }) => takes[0]).join(', ')
    return `| ${kinds}, json by a path; \`${name}\` | ${type.kind} | \`CAST\`, null if it fails |`
  })
  return section(`${CAST.name}(value, type)`, CAST.about, CAST.example, rows)
}

function groups(): string {
  const order = Object.keys(PRECEDENCE).toReversed() as (keyof typeof PRECEDENCE)[]
  return order
    .map((group) =>
      operatorTable
        .filter((row) => row.group === group)
        .map((row) => `\`${row.name}\``)
        .join(' '),
    )
    .join(', then ')
}

function operatorSection(row: OperatorRow): string {
  const rows = row.overloads
    ? row.overloads.map((overload) => overloadRow(overload, ['x', 'y']))
    : [`| ${row.takes} | boolean | \`${row.sql}\` |`]
  return section(row.name, row.about, row.example, rows)
}

function functionSection(row: FunctionRow): string {
  const rows = row.constant
    ? ['| nothing | timestamptz | a parameter |']
    : row.overloads.map((overload) => overloadRow(overload, row.args))
  return section(`${row.name}(${row.args.join(', ')})`, row.about, row.example, rows)
}

function section(title: string, about: string, example: string, rows: readonly string[]): string {
  return `### \`${title}\`\n\n${about}\n\n    ${example}\n\n| takes | gives | SQL |\n|---|---|---|\n${rows.join('\n')}`
}

const SAMPLE_DECIMAL = decimal(10, 2)

function overloadRow(overload: Overload, names: readonly string[]): string {
  const types = overload.takes.map(sampleType)
  const sql = overload.duckdb(
    overload.takes.map((_, index) => atom(names[index]!)),
    {
      dialect: 'duckdb',
      subject: THE_FILTER,
      position: 1,
      types,
      values: overload.takes.map(() => undefined),
      nullWith: overload.takes.map(() => undefined),
      parameter: () => atom('$1'),
    },
  )
  const gives = typeof overload.gives === 'function' ? overload.gives(types) : overload.gives
  const shown = gives.kind === 'decimal' && typeof overload.gives === 'function' ? 'decimal' : typeName(gives)
  return `| ${overload.takes.join(', ')} | ${shown} | \`${shortened(sql.text)}\` |`
}

function sampleType(kind: ValueKind): ValueType {
  return kind === 'decimal' ? SAMPLE_DECIMAL : TYPE[kind]
}

/** SQL for a table of the page: without the sentences of errors, and with `|` escaped. */
function shortened(sql: string): string {
  return sql.replaceAll(/error\('[^']*'\)/g, 'error(…)').replaceAll('|', '\\|')
}
