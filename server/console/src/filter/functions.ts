import { CASE, functionTable } from '../../../../engine/filter/tables/functions.ts'

/** A filter function, as shown by the completion. */
export interface FilterFunction {
  readonly name: string
  /** Its arguments, as shown to the user. */
  readonly shape: string
  readonly hint: string
  /** Whether it is a condition by itself, or a value to compare. */
  readonly gives: 'condition' | 'value'
}

function shown({ name, args, about, overloads }: (typeof functionTable)[number]): FilterFunction {
  const isCondition = overloads.every(({ gives }) => 'kind' in gives && gives.kind === 'boolean')
  return {
    name,
    shape: `(${args.join(', ')})`,
    hint: about,
    gives: isCondition ? 'condition' : 'value',
  }
}

/** The functions of the engine, conditions first, because most filters begin with one. */
export const FUNCTIONS: readonly FilterFunction[] = [
  ...functionTable.map(shown),
  { name: CASE.name, shape: '(condition: value, true: value)', hint: CASE.about, gives: 'value' } as const,
].toSorted((a, b) => a.gives.localeCompare(b.gives))

const BY_NAME = new Map(FUNCTIONS.map((known) => [known.name.toLowerCase(), known]))

export function functionNamed(name: string): FilterFunction | undefined {
  return BY_NAME.get(name.toLowerCase())
}
