import { describe, type Option, type OptionTable, plainName } from '../../engine/options.ts'

/** The argument that names a dataset. */
export const DATASET = { type: 'integer', minimum: 1, description: 'Id of the dataset, from find_datasets.' }

const TEXT = { type: 'string' }
const LIST = { type: 'array', items: TEXT, minItems: 1 }

const SCHEMAS: Readonly<Record<Exclude<Option['kind'], 'aliases'>, object>> = {
  text: TEXT,
  count: { type: 'integer', minimum: 0 },
  flag: { type: 'boolean' },
  character: TEXT,
  texts: LIST,
  columns: LIST,
  order: TEXT,
}

/** Options as arguments of a tool, as JSON Schema. Agents need no aliases: they write values where they belong. */
export function argumentsOf(table: OptionTable): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.entries(table).flatMap(([name, option]) => {
      const { kind, values } = option
      if (kind === 'aliases') return []
      const description = describe(name, table, plainName)
      return [[plainName(name, option), { ...SCHEMAS[kind], ...(values && { enum: values }), description }]]
    }),
  )
}
