import { describe, type Option, type OptionTable } from '../../engine/options.ts'
import type { ParameterSchema } from './query.ts'

interface SchemaTypes {
  readonly text: { readonly type: 'string' }
  readonly count: { readonly type: 'integer' }
  readonly flag: { readonly type: 'boolean' }
  readonly character: { readonly type: 'string' }
  readonly texts: { readonly type: 'string' }
  readonly columns: { readonly type: 'string' }
  readonly order: { readonly type: 'string' }
  readonly aliases: { readonly type: 'object'; readonly additionalProperties: { readonly type: 'string' } }
}

/** Options as parameters of a query string. */
export type OptionParameters<Table extends OptionTable> = {
  readonly [Name in keyof Table as Table[Name]['http']]: SchemaTypes[Table[Name]['kind']] & ParameterSchema
}

const SCHEMAS: SchemaTypes & Readonly<Record<Option['kind'], object>> = {
  text: { type: 'string' },
  count: { type: 'integer' },
  flag: { type: 'boolean' },
  character: { type: 'string' },
  texts: { type: 'string' },
  columns: { type: 'string' },
  order: { type: 'string' },
  aliases: { type: 'object', additionalProperties: { type: 'string' } },
}

/** Generators of clients name the values of an `enum`, and some find no name for a sign. */
const SIGNS: Readonly<Record<string, string>> = {
  '.': 'Point',
  ',': 'Comma',
  ' ': 'Space',
  "'": 'Apostrophe',
}

/** The parameters of a query string for options, as JSON Schema. */
export function parametersOf<Table extends OptionTable>(table: Table): OptionParameters<Table> {
  const all = Object.entries(table).map(([name, { http, kind, values, example }]) => [
    http,
    {
      ...SCHEMAS[kind],
      ...(kind === 'count' && { minimum: 0 }),
      ...(values && { enum: values }),
      ...(values?.some((value) => Object.hasOwn(SIGNS, value)) && {
        documented: { 'x-enum-varnames': values.map((value) => SIGNS[value] ?? value) },
      }),
      description: describe(name, table),
      ...(example !== undefined && { examples: [example] }),
    },
  ])
  return Object.fromEntries(all)
}
