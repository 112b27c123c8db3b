import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonDocument } from '../../../engine/ingest/json/document.ts'
import { columnsOf, type JsonLayout } from '../../../engine/ingest/json/fields.ts'
import { JsonRows } from '../../../engine/ingest/json/rows.ts'
import type { ColumnType } from '../../../engine/types/index.ts'

const OPEN: JsonLayout = { fields: [], open: true, positions: undefined, owner: 'upload' }

/** What comes of a document that arrives in pieces of so many bytes. */
function read(form: 'json' | 'ndjson', text: string, piece: number, layout: JsonLayout = OPEN): unknown {
  const document = new JsonDocument({ form, rows: () => new JsonRows(layout) })
  const bytes = Buffer.from(text)
  const written: Buffer[] = []
  try {
    let held = Buffer.alloc(0)
    for (let at = 0, final = false; !final; at += piece) {
      final = at >= bytes.length
      const buffer = Buffer.concat([held, bytes.subarray(at, at + piece), Buffer.alloc(1)])
      const used = document.feed(buffer, buffer.length - 1, final)
      held = buffer.subarray(used, -1)
      const { rows } = document
      const taken = rows && Buffer.from(rows.out.take())
      if (taken && !rows.stale) written.push(taken)
    }
  } catch (error) {
    // Where in the file something stands depends on how it is written.
    return (error as Error).message.replace(/ ?[Bb]yte \d+/, '')
  }
  const { rows } = document
  if (!rows) return undefined
  const { stale, fields, out } = rows
  const found = { rows: rows.rows, stale, columns: columnsOf(fields), nulls: fields.map((f) => f.values) }
  if (stale) return found
  const widths = fields.map(({ width }) => width)
  const { quotes, longest } = out
  return { ...found, widths, quotes, longest, csv: Buffer.concat(written).toString() }
}

/** The same rows, their keys spelled so that each of them has to be looked up. */
function spelledOut(text: string): string {
  return text.replace(/"([a-d])"( ?:)/g, (_, key: string, colon: string) => {
    return `"\\u00${key.charCodeAt(0).toString(16)}"${colon}`
  })
}

const scalar = fc.oneof(
  fc.constantFrom(
    '1',
    '-0',
    '0.5',
    '1.0',
    '1e3',
    '123456789012345678901',
    '9223372036854775807',
    '01',
    '1.',
    '-',
  ),
  fc.constantFrom('null', 'true', 'false', 'nul', 'truex', '""', '"x"', '"2024-02-29"', '"2023-02-29"'),
  fc.constantFrom(
    '"1234567890123456789"',
    '"a\\nb"',
    '"\u001f"',
    '"grün 🌲"',
    '[1]',
    '{"z":1}',
    '"12:30:00"',
  ),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.string().map((text) => JSON.stringify(text)),
)
const blank = fc.constantFrom('', '', '', ' ', '\n  ')
const row = fc
  .tuple(
    fc.subarray(['a', 'b', 'c', 'd'], { minLength: 0 }),
    fc.array(scalar, { minLength: 4, maxLength: 4 }),
    blank,
    blank,
  )
  .map(([keys, values, before, behind]) => {
    return `{${keys.map((key, index) => `${before}"${key}"${behind ? ' ' : ''}:${behind}${values[index]}`).join(`,${before}`)}${before}}`
  })
/** Rows that are nearly all alike, so that most of them are read the fast way. */
const rows = fc
  .tuple(fc.array(row, { maxLength: 4 }), fc.array(fc.constantFrom(0, 1, 2, 3), { maxLength: 40 }))
  .map(([kinds, order]) => order.flatMap((one) => kinds[one] ?? ['{"a":1,"b":"x","c":null,"d":0.25}']))

test('rows that are like the others say what they say written in another way', () => {
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 400 }), fc.boolean(), (some, piece, array) => {
      const [form, text] = array
        ? (['json', `[${some.join(',')}]`] as const)
        : (['ndjson', some.join('\n')] as const)
      expect(read(form, text, piece)).toEqual(read(form, spelledOut(text), piece))
    }),
    { numRuns: 1_000 },
  )
})

test('the same where types and missing values are settled beforehand', () => {
  const types = fc.constantFrom<ColumnType>(
    'integer',
    'double',
    'string',
    'date',
    'boolean',
    'decimal(4,1)',
    'json',
  )
  fc.assert(
    fc.property(rows, fc.tuple(types, types, types, types), fc.boolean(), (some, chosen, nullable) => {
      const fields = chosen.map((type, index) => ({
        name: 'abcd'[index]!,
        type,
        nullable: nullable || index > 0,
        description: '',
        nested: type === 'json',
      }))
      const layout: JsonLayout = { fields, open: false, positions: [0, 1, 2, 3], owner: 'dataset' }
      const text = some.join('\n')
      expect(read('ndjson', text, 100, layout)).toEqual(read('ndjson', spelledOut(text), 100, layout))
    }),
    { numRuns: 500 },
  )
})

test('arrays of values say what objects say', () => {
  const fields = ['a', 'b', 'c', 'd'].map((name) => ({
    name,
    type: undefined,
    nullable: true,
    description: '',
    nested: false,
  }))
  const layout: JsonLayout = { fields, open: true, positions: [0, 1, 2, 3], owner: 'upload' }
  fc.assert(
    fc.property(fc.array(fc.array(scalar, { minLength: 4, maxLength: 4 })), (values) => {
      const arrays = values.map((cells) => `[${cells.join(', ')}]`).join('\n')
      const objects = values
        .map((cells) => `{${cells.map((cell, index) => `"${'abcd'[index]}":${cell}`).join(', ')}}`)
        .join('\n')
      const [array, object] = [read('ndjson', arrays, 64, layout), read('ndjson', objects, 64, layout)]
      // What is wrong is found in both, but told of another form of row.
      if (typeof object === 'string') expect(array).toBeTypeOf('string')
      else expect(array).toEqual(object)
    }),
    { numRuns: 500 },
  )
})
