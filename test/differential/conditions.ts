import fc from 'fast-check'
import type { Model, Type, Value } from '../filter/support/model.ts'
import { SAMPLES, type Sample } from '../filter/support/pools.ts'
import { COLUMNS, type TableColumn } from './tables.ts'

/**
 * Random conditions of `$filter`. Many ask one column several times, because such conditions are what a database makes
 * one range of, and what it skips rows by.
 */
export function conditions(): fc.Arbitrary<Model> {
  const { any } = fc.letrec<{ any: Model; leaf: Model }>((tie) => ({
    leaf: fc.constantFrom(...COLUMNS).chain(aboutColumn),
    any: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      { weight: 2, arbitrary: tie('leaf') },
      { weight: 6, arbitrary: aboutOneColumn() },
      {
        weight: 1,
        arbitrary: fc.array(tie('any'), { minLength: 2, maxLength: 3 }).map((of) => logical('or', of)),
      },
      {
        weight: 1,
        arbitrary: fc.array(tie('any'), { minLength: 2, maxLength: 3 }).map((of) => logical('and', of)),
      },
      { weight: 1, arbitrary: tie('any').map((one) => apply('not', 'boolean', [one])) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(tie('any'), fc.constantFrom('eq', 'ne'), fc.constantFrom(true, false))
          .map(([one, name, value]) => apply(name, 'boolean', [one, truth(value)])),
      },
      {
        weight: 1,
        arbitrary: fc.tuple(tie('leaf'), tie('leaf'), tie('leaf')).map(([when, one, other]) =>
          choice('boolean', [
            [when, one],
            [truth(true), other],
          ]),
        ),
      },
    ),
  }))
  return any
}

function aboutOneColumn(): fc.Arbitrary<Model> {
  return fc
    .constantFrom(...COLUMNS)
    .chain((column) =>
      fc.tuple(
        fc.constantFrom('or', 'or', 'and'),
        fc.array(
          fc
            .tuple(aboutColumn(column), fc.boolean())
            .map(([one, denied]) => (denied ? apply('not', 'boolean', [one]) : one)),
          { minLength: 2, maxLength: 4 },
        ),
      ),
    )
    .map(([name, parts]) => logical(name, parts))
}

const OPERATORS = ['eq', 'ne', 'gt', 'ge', 'lt', 'le'] as const

function aboutColumn(column: TableColumn): fc.Arbitrary<Model> {
  const { type, name } = column
  const itself: Model = { kind: 'column', type, name }
  const literal = literals(column)
  const operator = fc.constantFrom(...OPERATORS)
  const of: fc.Arbitrary<Model>[] = [
    fc.tuple(operator, literal).map(([sign, value]) => apply(sign, 'boolean', [itself, value])),
    fc.tuple(operator, literal).map(([sign, value]) => apply(sign, 'boolean', [value, itself])),
    fc.constantFrom('eq', 'ne').map((sign) => apply(sign, 'boolean', [itself, NULL(type)])),
    fc
      .array(fc.oneof({ weight: 6, arbitrary: literal }, fc.constant(NULL(type))), { maxLength: 6 })
      .map((items) => ({ kind: 'list', type: 'boolean', operand: itself, items })),
    // What a database may find to be the column itself.
    fc
      .tuple(operator, literal)
      .map(([sign, value]) => apply(sign, 'boolean', [choice(type, [[truth(true), itself]]), value])),
    fc
      .constantFrom(...COLUMNS.filter((other) => JSON.stringify(other.type) === JSON.stringify(type)))
      .chain((other) =>
        operator.map((sign) => apply(sign, 'boolean', [itself, { kind: 'column', type, name: other.name }])),
      ),
  ]
  if (type === 'string') {
    const words = fc.constantFrom('startswith', 'endswith', 'contains')
    of.push(fc.tuple(words, literal).map(([word, value]) => apply(word, 'boolean', [itself, value])))
  }
  if (type === 'date' || type === 'timestamp' || type === 'timestamptz') {
    const years = fc.constantFrom(1n, 1969n, 2000n, 2023n, 2024n, 9999n, 0n, 123456n).map(whole)
    const year = fc.oneof(years, fc.constant(NULL('integer')))
    of.push(
      fc
        .tuple(operator, year)
        .map(([sign, value]) => apply(sign, 'boolean', [apply('year', 'integer', [itself]), value])),
    )
    if (type !== 'date') {
      const day = fc.oneof(fc.constantFrom(...SAMPLES.date).map(literalOf), fc.constant(NULL('date')))
      of.push(
        fc
          .tuple(operator, day)
          .map(([sign, value]) => apply(sign, 'boolean', [apply('date', 'date', [itself]), value])),
      )
    }
  }
  return fc.oneof(...of)
}

/** Values like those of the column, and others that its type can't hold. */
function literals({ type, pool }: TableColumn): fc.Arbitrary<Model> {
  const own = fc.constantFrom(...pool).map(literalOf)
  if (typeof type !== 'object' && type !== 'integer' && type !== 'double') return own
  const others = [
    ...SAMPLES.integer,
    ...SAMPLES.decimal,
    ...SAMPLES.double.slice(0, 3),
    whole(99_999_999_999_999_999_999n),
    whole(-99_999_999_999_999_999_999n),
  ].map((sample) => ('kind' in sample ? sample : literalOf(sample)))
  return fc.oneof(
    // A number with an exponent is a double beside every column, but the model knows digits only.
    own.filter((node) => node.type !== 'double' || !/e/.test(node.kind === 'literal' ? node.text : '')),
    fc.constantFrom(...others),
  )
}

function literalOf({ type, value, text }: Sample): Model {
  return { kind: 'literal', type, value, text }
}

function whole(value: bigint): Model {
  return { kind: 'literal', type: 'integer', value, text: String(value) }
}

function truth(value: boolean): Model {
  return { kind: 'literal', type: 'boolean', value, text: String(value) }
}

const NULL = (type: Type): Model => ({ kind: 'literal', type, value: null as Value, text: 'null' })

function apply(name: string, type: Type, args: readonly Model[]): Model {
  return { kind: 'apply', name, type, args }
}

function logical(name: string, args: readonly Model[]): Model {
  return apply(name, 'boolean', args)
}

function choice(type: Type, pairs: readonly (readonly [Model, Model])[]): Model {
  return { kind: 'case', type, pairs }
}
