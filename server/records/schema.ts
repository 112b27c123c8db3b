/**
 * A JSON Schema 2020-12, with two keywords for the OpenAPI document. `component` is the name under which the document
 * describes the schema once. (`$id` would not do: Ajv allows it once in a schema.) `documented` holds keywords that
 * requests are not checked against, because other code checks the same with better messages.
 */
export type JsonSchema = Readonly<Record<string, unknown>>

declare const VALUE: unique symbol

/** A schema whose values have a type that can't be read from its keywords. */
export type SchemaOf<Value> = JsonSchema & { readonly [VALUE]: Value }

/**
 * The type of the values that a schema allows, for the keywords that our schemas use. A schema must be `as const`.
 * Fields that aren't `required` may be missing; a default is only documented, not filled in.
 */
export type FromSchema<Schema> = Schema extends { readonly [VALUE]: infer Value }
  ? Value
  : Schema extends { readonly const: infer Value }
    ? Value
    : Schema extends { readonly enum: readonly (infer Value)[] }
      ? Value
      : Schema extends { readonly oneOf: readonly (infer One)[] }
        ? FromSchema<One>
        : Schema extends { readonly then: infer Then; readonly else: infer Else }
          ? FromSchema<Then> | FromSchema<Else>
          : Schema extends { readonly type: readonly (infer Type)[] }
            ? OfType<Type, Schema>
            : Schema extends { readonly type: infer Type }
              ? OfType<Type, Schema>
              : unknown

type OfType<Type, Schema> = Type extends 'string'
  ? string
  : Type extends 'integer' | 'number'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? Schema extends { readonly items: infer Items }
            ? readonly FromSchema<Items>[]
            : readonly unknown[]
          : Schema extends { readonly properties: infer Properties }
            ? Values<Properties, Schema extends { readonly required: readonly (infer Name)[] } ? Name : never>
            : Schema extends { readonly additionalProperties: infer Value }
              ? Readonly<Record<string, FromSchema<Value>>>
              : Readonly<Record<string, unknown>>

type Values<Properties, Required> = Flat<
  {
    readonly [Name in keyof Properties as Name extends Required ? Name : never]: FromSchema<Properties[Name]>
  } & {
    readonly [Name in keyof Properties as Name extends Required ? never : Name]?: FromSchema<Properties[Name]>
  }
>

/** Shows an intersection as one object, in messages and in editors. */
type Flat<Type> = { readonly [Name in keyof Type]: Type[Name] }

/** An object with these fields and no others, of which some are required. */
export function object<const Name extends string, const Properties extends Fields>(
  required: readonly Name[],
  properties: Properties,
) {
  const base = { type: 'object', additionalProperties: false, properties } as const
  return { ...base, ...(required.length > 0 && { required }) } as typeof base & {
    readonly required: readonly Name[]
  }
}

type Fields = Readonly<Record<string, JsonSchema>>

/** An object with these fields and no others, of which those of `optional` may be missing. */
export function fields<const Required extends Fields, const Optional extends Fields = Record<never, never>>(
  description: string,
  required: Required,
  optional = {} as Optional,
) {
  const names = Object.keys(required) as readonly (keyof Required)[]
  const properties = { ...required, ...optional }
  return { type: 'object', description, required: names, additionalProperties: false, properties } as const
}

/** The same, which the OpenAPI document describes once, under this name. */
export function record<const Required extends Fields, const Optional extends Fields = Record<never, never>>(
  component: string,
  description: string,
  required: Required,
  optional = {} as Optional,
) {
  return { ...fields(description, required, optional), component } as const
}

/** A schema that the OpenAPI document describes once, under this name. */
export function named<const Schema extends JsonSchema>(component: string, schema: Schema) {
  return { ...schema, component } as const
}

/** The example of a schema: its own, or one made of those of its required parts. */
export function exampleOf(schema: JsonSchema): unknown {
  const { examples, oneOf, items, required = [], properties, enum: values, ...one } = schema as ExampleParts
  if (examples) return examples[0]
  if (oneOf) return exampleOf(oneOf[0]!)
  if (items) return [exampleOf(items)]
  if (properties) return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name]!)]))
  return values?.[0] ?? one.const
}

interface ExampleParts {
  readonly examples?: readonly unknown[]
  readonly oneOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly enum?: readonly unknown[]
  readonly const?: unknown
}

export function listOf<const Items extends JsonSchema>(items: Items) {
  return { type: 'array', items } as const
}

/** The schema of a field in a JSON merge patch, in which null removes it. */
export function orNull<const Schema extends { readonly type: string }>(schema: Schema) {
  return { ...schema, type: [schema.type, 'null'] } as Omit<Schema, 'type'> & {
    readonly type: readonly [Schema['type'], 'null']
  }
}

/** The same for several fields. */
export function orNulls<const Several extends Readonly<Record<string, { readonly type: string }>>>(
  several: Several,
) {
  const entries = Object.entries(several).map(([name, schema]) => [name, orNull(schema)])
  return Object.fromEntries(entries) as {
    readonly [Name in keyof Several]: ReturnType<typeof orNull<Several[Name]>>
  }
}

export const count = { type: 'integer', minimum: 0, examples: [1] } as const
export const countOrNull = { ...count, type: ['integer', 'null'] } as const
export const id = {
  type: 'integer',
  minimum: 1,
  description: 'Unique; never reused after deletion.',
  examples: [1],
} as const
export const text = { type: 'string' } as const
export const textOrNull = { type: ['string', 'null'], examples: [null] } as const
export const flag = { type: 'boolean', examples: [false] } as const
export const time = {
  type: 'string',
  format: 'date-time',
  description: 'ISO 8601, UTC.',
  examples: ['2026-11-21T09:00:00.000Z'],
} as const
export const timeOrNull = { ...time, type: ['string', 'null'] } as const
