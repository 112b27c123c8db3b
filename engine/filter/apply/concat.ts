import { common, valueType } from '../check/value-types.ts'
import { invalid } from '../errors.ts'
import { type Building, columnType } from './building.ts'
import { checkSize } from './size.ts'
import type { Relation, Step, StepColumn, Transformed } from './steps.ts'

/**
 * The rows of all branches, one branch after the other, as one relation. Columns of the same name become one column,
 * which is null in the rows of branches that lack it.
 * @throws EngineError `invalid_filter` where a column has different types in them, `filter_too_complex`
 */
export function concatenated(branches: readonly Relation[], at: number, building: Building): Transformed {
  const names = [...new Set(branches.flatMap((branch) => branch.columns.map(({ name }) => name)))]
  const columns = names.map((name): StepColumn => {
    const given = branches.flatMap((branch) => branch.columns.filter((column) => column.name === name))
    const same = given.every(({ type }) => type === given[0]!.type)
    const type = same ? undefined : common(given.map((column) => valueType(column.type)))
    if (!same && !type) {
      const types = [...new Set(given.map((column) => column.type))].join(' and ')
      throw invalid(at, `the branches of concat() have ${name} in different types, ${types}.`)
    }
    return { name, type: type ? columnType(type) : given[0]!.type, sql: building.newName() }
  })
  const step: Step = {
    kind: 'concat',
    columns,
    branches: branches.map((branch) => ({
      steps: branch.steps,
      values: columns.map(({ name, type }) => {
        const own = branch.columns.find((column) => column.name === name)
        if (own) building.noteColumns([own])
        return `CAST(${own?.sql ?? 'NULL'} AS ${building.dialect.type(valueType(type))})`
      }),
    })),
  }
  checkSize([step], building.limits)
  return { steps: [step], columns }
}
