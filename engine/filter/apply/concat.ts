import { common, valueType } from '../check/value-types.ts'
import { invalid } from '../errors.ts'
import { type Building, columnType } from './building.ts'
import type { Relation, Step, StepColumn, Transformed } from './steps.ts'

/**
 * The rows of all branches, one branch after the other, as one relation. Columns of the same name become one column.
 * @param optional columns that a branch may lack; they are null in its rows
 * @throws EngineError `invalid_filter` where the branches have different columns
 */
export function concatenated(
  branches: readonly Relation[],
  at: number,
  building: Building,
  optional: readonly StepColumn[] = [],
): Transformed {
  const names = [...new Set(branches.flatMap((branch) => branch.columns.map(({ name }) => name)))]
  const mayLack = new Set(optional.map(({ name }) => name))
  for (const [index, branch] of branches.entries()) {
    const has = new Set(branch.columns.map(({ name }) => name))
    const lacking = names.filter((name) => !has.has(name) && !mayLack.has(name))
    if (lacking.length > 0) {
      throw invalid(
        at,
        `the branches of concat() have different columns: its branch ${index + 1} has no ${lacking.slice(0, 5).join(', ')}. Add them by compute(…), or leave them out by groupby(…).`,
      )
    }
  }
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
        return `CAST(${own?.sql ?? 'NULL'} AS ${building.dialect.type(valueType(type))})`
      }),
    })),
  }
  return { steps: [step], columns }
}
