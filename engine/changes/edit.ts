import type { Part, Version } from '../catalog/records.ts'
import { EngineError, hint, invalidOption } from '../errors.ts'
import { Aliases, Building, compileFilter, readExpression } from '../filter/index.ts'
import { mayMatch } from '../plan/parts.ts'
import { physicalColumns, type QueryOptions } from '../plan/plan.ts'
import { inlineValue } from '../plan/statements.ts'
import { type Cell, textOf } from '../relation.ts'
import type { EditPlan } from '../store/edits.ts'
import { widens } from '../types/columns.ts'
import { type Column, decimalParts } from '../types/index.ts'

/** Which rows to change: all that match a filter. */
export type EditedFilter = Pick<QueryOptions, 'filter' | 'aliases'>

/** New values by the names of columns. Text that begins with `=` is an expression as in `$compute`. */
export type NewValues = Readonly<Record<string, Cell>>

/**
 * Plans a change of the rows that match a filter: to delete them, or to set columns of them.
 * @throws EngineError `invalid_option` without a filter; what is wrong with the filter or a value
 */
export function planEdit(
  { columns, key }: Version,
  { filter, aliases }: EditedFilter,
  values?: NewValues,
): EditPlan {
  if (filter === undefined) {
    throw invalidOption(
      `${hint('$filter')} is missing: it says which rows change. For all rows, write ${hint('$filter=true')}.`,
      '$filter',
    )
  }
  const moment = new Date()
  const now = () => moment
  const known = new Aliases(aliases)
  const { tree, sql, parameters } = compileFilter(filter, physicalColumns(columns), { aliases: known, now })
  const set = values && setColumns(columns, key, values, new Building({ now, aliases: known }))
  known.requireAllUsed()
  return {
    mayHold: (part: Part) => mayMatch(tree, part),
    condition: { where: sql, parameters },
    ...(set && { set }),
  }
}

function setColumns(
  columns: readonly Column[],
  key: readonly string[],
  values: NewValues,
  building: Building,
) {
  const given = Object.entries(values)
  if (given.length === 0) throw invalidOption('No column is set: send {"column": value}.')
  const sql: Record<number, string> = {}
  for (const [name, value] of given) {
    const index = columns.findIndex((column) => column.name === name)
    if (index < 0)
      throw new EngineError('invalid_columns', `The dataset has no column ${JSON.stringify(name)}.`, {
        details: { columns: [name] },
      })
    if (key.includes(name)) {
      throw new EngineError(
        'column_conflict',
        `Column ${JSON.stringify(name)} is a part of the key; delete the rows and add others.`,
      )
    }
    const column = columns[index]!
    sql[index] =
      typeof value === 'string' && value.startsWith('=')
        ? expressionSql(value.slice(1), column, columns, building)
        : literalSql(value, column, building)
  }
  return { sql, parameters: building.parameters }
}

function expressionSql(text: string, column: Column, columns: readonly Column[], building: Building): string {
  const where = `Column ${JSON.stringify(column.name)}`
  const one = readExpression(where, text, physicalColumns(columns), building)
  if (!fits(one.type, column.type)) {
    throw new EngineError(
      'filter_type_error',
      `Column ${JSON.stringify(column.name)} is ${column.type}; the expression gives ${one.type}. Write cast(…) or round(…) around it.`,
    )
  }
  return one.value
}

/** Whether a value of a type can be stored in a column without losing more than digits after the decimal point. */
function fits(from: Column['type'], to: Column['type']): boolean {
  if (from === to || (to !== 'string' && widens(from, to))) return true
  const isNumber = (type: Column['type']) => type === 'integer' || decimalParts(type) !== undefined
  return isNumber(from) && (to === 'double' || decimalParts(to) !== undefined)
}

function literalSql(value: Cell, column: Column, building: Building): string {
  if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array)) {
    return literalSql(JSON.stringify(value), column, building)
  }
  try {
    const text = textOf(value, column, 1)
    return text === null ? 'NULL' : inlineValue(column.type, building.parameter(text))
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    const { message, details } = error.marked
    const { problem = message, value: text } = details ?? {}
    throw new EngineError('invalid_option', `Column ${JSON.stringify(column.name)}: ${problem}`, {
      details: { column: column.name, ...(text !== undefined && { value: text }) },
    })
  }
}
