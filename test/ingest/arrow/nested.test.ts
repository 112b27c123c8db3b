import { readFileSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import {
  Binary,
  Bool,
  type Data,
  type DataType,
  DateDay,
  Decimal,
  Field,
  Float32,
  Float64,
  Int64,
  List,
  Map_,
  makeData,
  Struct,
  Table,
  TimeMicrosecond,
  TimestampMicrosecond,
  tableToIPC,
  Uint64,
  Utf8,
  Vector,
} from 'apache-arrow'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { quoteLiteral } from '../../../engine/types/index.ts'
import { useBench } from '../support/helper.ts'

/** A value as SQL, and as Arrow stores it; null has no `stored`. */
interface Value {
  readonly sql: string
  readonly stored?: unknown
}

/** A type, as DuckDB and as Arrow have it, and values of it. */
interface Kind {
  readonly sql: string
  readonly data: (values: readonly Value[]) => Data
  readonly value: fc.Arbitrary<Value>
}

const NULL: Value = { sql: 'NULL' }

function validity(values: readonly Value[]): { length: number; nullCount: number; nullBitmap: Uint8Array } {
  const nullBitmap = new Uint8Array(Math.ceil(values.length / 64) * 8)
  for (const [at, { stored }] of values.entries())
    if (stored !== undefined) nullBitmap[at >> 3]! |= 1 << (at & 7)
  const nullCount = values.filter(({ stored }) => stored === undefined).length
  return { length: values.length, nullCount, nullBitmap }
}

const make = (type: DataType, given: object) => makeData({ type, ...given } as never) as Data

function offsets(lengths: readonly number[]): Int32Array {
  const all = new Int32Array(lengths.length + 1)
  for (const [at, length] of lengths.entries()) all[at + 1] = all[at]! + length
  return all
}

/** A scalar type whose values Arrow stores as numbers of one size. */
function scalar<T>(
  sql: string,
  type: DataType,
  array: { from(values: T[]): ArrayBufferView },
  values: fc.Arbitrary<T>,
  text: (value: T) => string = String,
): Kind {
  return {
    sql,
    data: (all) =>
      make(type, {
        ...validity(all),
        data: array.from(all.map(({ stored }) => (stored ?? zero(array)) as T)),
      }),
    value: values.map((stored) => ({ sql: `CAST(${quoteLiteral(text(stored))} AS ${sql})`, stored })),
  }
}

const zero = (array: unknown) => (array === BigInt64Array || array === BigUint64Array ? 0n : 0)

function bytes<T>(sql: string, type: DataType, of: (value: T) => Uint8Array, given: fc.Arbitrary<T>): Kind {
  return {
    sql,
    data: (all) => {
      const parts = all.map(({ stored }) => (stored === undefined ? new Uint8Array() : of(stored as T)))
      const valueOffsets = offsets(parts.map(({ length }) => length))
      return make(type, { ...validity(all), valueOffsets, data: new Uint8Array(Buffer.concat(parts)) })
    },
    value: given.map((stored) => {
      const hex = Buffer.from(of(stored)).toString('hex')
      return { sql: sql === 'BLOB' ? `unhex('${hex}')` : `decode(unhex('${hex}'))`, stored }
    }),
  }
}

const real = (value: number) =>
  Object.is(value, -0) ? '-0.0' : Number.isFinite(value) ? String(value) : String(value).replace('inity', '')
const day = (days: number) => new Date(days * 86_400_000).toISOString().slice(0, 10)
const clock = (micros: bigint) =>
  `${new Date(Number(micros / 1000n)).toISOString().slice(11, 23)}${String(micros % 1000n).padStart(3, '0')}`
const moment = (micros: bigint) => {
  const days = Number((micros - (((micros % DAY) + DAY) % DAY)) / DAY)
  return `${day(days)} ${clock(micros - BigInt(days) * DAY)}`
}
const DAY = 86_400_000_000n
const moments = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n })

const SCALARS: readonly Kind[] = [
  {
    sql: 'BOOLEAN',
    data: (all) => {
      const { nullBitmap: data } = validity(all.map(({ stored }) => (stored ? { sql: '', stored } : NULL)))
      return make(new Bool(), { ...validity(all), data })
    },
    value: fc.boolean().map((stored) => ({ sql: String(stored), stored })),
  },
  scalar('BIGINT', new Int64(), BigInt64Array, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  scalar('UBIGINT', new Uint64(), BigUint64Array, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
  scalar(
    'DOUBLE',
    new Float64(),
    Float64Array,
    fc.oneof(fc.double(), fc.integer().map(Number), fc.constant(1e21)),
    real,
  ),
  scalar('FLOAT', new Float32(), Float32Array, fc.oneof(fc.float(), fc.constant(5)), real),
  bytes(
    'VARCHAR',
    new Utf8(),
    Buffer.from as (text: string) => Buffer,
    fc.string({
      unit: fc.oneof(
        fc.string({ unit: 'grapheme', maxLength: 1 }),
        fc
          .oneof(fc.integer({ min: 1, max: 0x9f }), fc.integer({ min: 1, max: 0x2fff }))
          .map((code) => String.fromCharCode(code)),
      ),
      maxLength: 6,
    }),
  ),
  bytes('BLOB', new Binary(), (value: Uint8Array) => value, fc.uint8Array({ maxLength: 5 })),
  scalar('DATE', new DateDay(), Int32Array, fc.integer({ min: -719_162, max: 2_932_896 }), day),
  scalar('TIME', new TimeMicrosecond(), BigInt64Array, fc.bigInt({ min: 0n, max: DAY - 1n }), clock),
  scalar('TIMESTAMP', new TimestampMicrosecond(), BigInt64Array, moments, moment),
  scalar<bigint>(
    'TIMESTAMPTZ',
    new TimestampMicrosecond('UTC'),
    BigInt64Array,
    moments,
    (micros) => `${moment(micros)}+00`,
  ),
  ...[0, 3, 20].map((scale) => decimals(20, scale)),
]

function decimals(precision: number, scale: number): Kind {
  const limit = 10n ** BigInt(precision) - 1n
  const text = (units: bigint) => {
    const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
    return `${units < 0n ? '-' : ''}${digits.slice(0, digits.length - scale)}.${digits.slice(digits.length - scale)}`
  }
  return {
    sql: `DECIMAL(${precision},${scale})`,
    data: (all) => {
      const halves = all.flatMap(({ stored }) => {
        const units = (stored ?? 0n) as bigint
        return [BigInt.asIntN(64, units), units >> 64n]
      })
      const data = new Uint32Array(BigInt64Array.from(halves).buffer)
      return make(new Decimal(scale, precision, 128), { ...validity(all), data })
    },
    value: fc
      .bigInt({ min: -limit, max: limit })
      .map((stored) => ({ sql: `CAST('${text(stored)}' AS DECIMAL(${precision},${scale}))`, stored })),
  }
}

const nullable = (kind: Kind) =>
  fc.oneof({ weight: 4, arbitrary: kind.value }, { weight: 1, arbitrary: fc.constant(NULL) })
const storedIn = (all: readonly Value[]) => all.map(({ stored = [] }) => stored as readonly Value[])

function list(of: Kind): Kind {
  const sql = `${of.sql}[]`
  return {
    sql,
    data: (all) => {
      const lists = storedIn(all)
      const child = of.data(lists.flat())
      const type = new List(new Field('item', child.type, true))
      return make(type, { ...validity(all), valueOffsets: offsets(lists.map(({ length }) => length)), child })
    },
    value: fc
      .array(nullable(of), { maxLength: 3 })
      .map((stored) => ({ sql: `CAST([${stored.map((one) => one.sql)}] AS ${sql})`, stored })),
  }
}

const NAMES = ['a', 'B "é"', '1', "it's"]

function struct(fields: readonly Kind[]): Kind {
  const sql = `STRUCT(${fields.map((field, at) => `"${NAMES[at]!.replaceAll('"', '""')}" ${field.sql}`)})`
  return {
    sql,
    data: (all) => {
      const rows = all.map(({ stored }) => (stored ?? fields.map(() => NULL)) as Value[])
      const children = fields.map((field, at) => field.data(rows.map((row) => row[at]!)))
      const type = new Struct(children.map((child, at) => new Field(NAMES[at]!, child.type, true)))
      return make(type, { ...validity(all), children })
    },
    value: fc
      .tuple(...fields.map(nullable))
      .map((stored) => ({ sql: `CAST(ROW(${stored.map((one) => one.sql)}) AS ${sql})`, stored })),
  }
}

function map(key: Kind, of: Kind): Kind {
  const sql = `MAP(${key.sql}, ${of.sql})`
  return {
    sql,
    data: (all) => {
      const pairs = storedIn(all).map((values) => values as unknown as readonly [Value, Value][])
      const keys = key.data(pairs.flat().map(([one]) => one))
      const values = of.data(pairs.flat().map(([, one]) => one))
      const entries = new Struct([new Field('key', keys.type, false), new Field('value', values.type, true)])
      const child = make(entries, { length: keys.length, nullCount: 0, children: [keys, values] })
      const valueOffsets = offsets(pairs.map(({ length }) => length))
      return make(new Map_(new Field('entries', entries, false) as never), {
        ...validity(all),
        valueOffsets,
        child,
      })
    },
    value: fc
      .uniqueArray(fc.tuple(key.value, nullable(of)), {
        maxLength: 3,
        selector: ([one]) => one.sql.replace("'-0.0'", "'0'"),
      })
      .map((stored) => ({
        sql: `CAST(MAP {${stored.map(([one, other]) => `${one.sql}: ${other.sql}`)}} AS ${sql})`,
        stored,
      })),
  }
}

const anyScalar = fc.constantFrom(...SCALARS)
const kinds = (depth: number): fc.Arbitrary<Kind> => {
  const inner = depth === 0 ? anyScalar : fc.oneof(anyScalar, kinds(depth - 1))
  return fc.oneof(
    inner.map(list),
    fc.array(inner, { minLength: 1, maxLength: NAMES.length }).map(struct),
    fc.tuple(anyScalar, inner).map(([key, of]) => map(key, of)),
  )
}
const tables = fc
  .array(kinds(2), { minLength: 4, maxLength: 4 })
  .chain((columns) =>
    fc.tuple(
      fc.constant(columns),
      ...columns.map((kind) => fc.array(nullable(kind), { minLength: 5, maxLength: 5 })),
    ),
  )

const bench = useBench()
let instance: DuckDBInstance
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:')
})
afterAll(() => instance.closeSync())

/** A Parquet file with these columns, as DuckDB writes it. */
async function parquet(columns: readonly Kind[], values: readonly (readonly Value[])[]): Promise<Uint8Array> {
  const path = bench.path('.parquet')
  const rows = values[0]!.map(
    (_, row) => `(${values.map((column, at) => `CAST(${column[row]!.sql} AS ${columns[at]!.sql})`)})`,
  )
  const connection = await instance.connect()
  await connection.run("SET TimeZone = 'UTC'")
  const names = columns.map((_, at) => `c${at}`)
  await connection.run(`COPY (SELECT * FROM (VALUES ${rows}) t(${names})) TO '${path}' (FORMAT parquet)`)
  connection.closeSync()
  return readFileSync(path)
}

test('values within json have one form, from Parquet and from Arrow', { timeout: 240_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(tables, async ([columns, ...values]) => {
      const vectors = columns.map((kind, at) => [`c${at}`, new Vector([kind.data(values[at]!)])])
      const arrow = await bench.read('arrow', tableToIPC(new Table(Object.fromEntries(vectors)), 'stream'))
      expect(arrow.shape).toEqual(columns.map((_, at) => `c${at}: json`))
      const found = await bench.read('parquet', await parquet(columns, values))
      expect(arrow.values, columns.map(({ sql }) => sql).join('\n')).toEqual(found.values)
    }),
    { numRuns: 40 },
  )
})
