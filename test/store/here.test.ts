import { createHook } from 'node:async_hooks'
import { mkdtempSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type ColumnType, type Dataset, type Engine, EngineError, openEngine } from '../../engine/index.ts'

const directory = mkdtempSync(join(tmpdir(), 'parquetry-here-'))
let engine: Engine
let repositoryId: number
beforeAll(async () => {
  engine = await openEngine({ directory, role: 'server', threads: 1 })
  repositoryId = (await engine.createRepository({ name: 'r' })).id
})
afterAll(async () => {
  await engine.close()
  rmSync(directory, { recursive: true, force: true })
})

const day = fc
  .date({ min: new Date('0001-01-02T00:00:00Z'), max: new Date('9999-12-30T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))
const clock = fc
  .tuple(fc.nat(23), fc.nat(59), fc.option(fc.tuple(fc.nat(59), fc.option(fc.nat({ max: 9_999_999 })))))
  .map(([hours, minutes, rest]) => {
    const two = (value: number) => String(value).padStart(2, '0')
    const fraction = rest?.[1] == null ? '' : `.${rest[1]}`
    return `${two(hours)}:${two(minutes)}${rest ? `:${two(rest[0])}${fraction}` : ''}`
  })
const zone = fc.constantFrom('Z', '+00', '+00:00', '-00', '+01', '-09:30', '+0530', '+14:00', '-12')
const moment = fc.tuple(day, fc.constantFrom('T', ' '), clock).map((parts) => parts.join(''))
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(
    '0',
    '-0',
    '7.',
    '7.00',
    '007',
    '+7',
    '.5',
    '-.5',
    '2.500',
    '1e5',
    '1E-7',
    '9007199254740993',
  ),
  fc.constantFrom(
    '9223372036854775807',
    '-9223372036854775808',
    '9223372036854775808',
    '0.1000',
    'NaN',
    'inf',
  ),
)
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '"', 'a"b\n,\u001f', 'é\r\n', ' ', '\ufeffx'),
)
const decimals = fc
  .tuple(fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n }), fc.nat(4))
  .map(([units, scale]) => {
    const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
    const fraction = scale === 0 ? '' : `.${digits.slice(-scale)}`
    return `${units < 0n ? '-' : ''}${digits.slice(0, digits.length - scale)}${fraction}`
  })

/** Values of each type, and some that are none or are written in other ways. */
const VALUES = {
  boolean: fc.constantFrom(true, false, 'true', 'False', '1', 0, 'yes'),
  integer: number,
  double: number,
  'decimal(4,1)': fc.oneof(number, decimals),
  'decimal(12,3)': fc.oneof(number, decimals),
  'decimal(38,4)': fc.oneof(number, decimals, fc.constant('-9999999999999999999999999999999999.9999')),
  string: fc.oneof(text, number, fc.boolean()),
  date: fc.oneof(day, moment, fc.constantFrom('2024-02-29', '2023-02-29', '2020-01-02T00:00:00')),
  time: fc.oneof(clock, fc.constantFrom('24:00:00', '1:00')),
  timestamp: fc.oneof(
    day,
    moment,
    fc.tuple(moment, zone).map((parts) => parts.join('')),
  ),
  timestamptz: fc.oneof(
    day,
    moment,
    fc.tuple(moment, zone).map((parts) => parts.join('')),
  ),
  uuid: fc.oneof(
    fc.uuid(),
    fc.uuid().map((id) => id.replaceAll('-', '').toUpperCase()),
    text,
  ),
  binary: fc.oneof(
    fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
    text,
  ),
  json: fc.oneof(fc.jsonValue(), text),
} as const satisfies Partial<Record<ColumnType, fc.Arbitrary<unknown>>>
const TYPES = Object.keys(VALUES) as (keyof typeof VALUES)[]
const columns = TYPES.map((type) => ({ name: type, type }))
const row = fc.record(Object.fromEntries(TYPES.map((type) => [type, fc.option(VALUES[type], { freq: 4 })])))
/** A row in which only some columns have values, so that most such rows have no fault. */
const rows = fc.array(
  fc
    .tuple(row, fc.subarray(TYPES, { maxLength: 3 }))
    .map(([all, some]) =>
      Object.fromEntries(TYPES.map((type) => [type, some.includes(type) ? all[type] : null])),
    ),
  { minLength: 1, maxLength: 4 },
)

async function table(): Promise<Dataset> {
  const { id } = await engine.createDataset({ repositoryId, name: `d${Math.random()}`, columns })
  return engine.dataset(id)
}

/** The rows that were written, or the error; and what the catalog knows of them. */
async function outcome(dataset: Dataset, body: Buffer, format: 'json' | 'csv', alone: boolean) {
  try {
    await dataset.replace({ format: 'json', body: Buffer.from('{"rows":[]}') })
    await dataset.append({ format, body, alone })
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    return { error: [error.code, error.message, JSON.stringify(error.details)] }
  }
  using query = await dataset.query()
  const [part] = await engine.database.all<{ statistics: string; rows: number }>(
    `SELECT p.statistics, p.rows FROM parts p JOIN version_parts vp ON vp.part_id = p.id
     JOIN datasets d ON d.version_id = vp.version_id WHERE d.id = ?`,
    dataset.id,
  )
  const known = (JSON.parse(part!.statistics) as ({ bytes: number } | null)[]).map((one) => ({
    ...one,
    bytes: 0,
  }))
  const { columns: schema } = await dataset.record()
  const csv = Buffer.concat(await Array.fromAsync(await query.bytes('csv'))).toString()
  return { csv, schema, rows: part!.rows, known }
}

test('rows that are read in this process are those that a reader process makes of them', async () => {
  const [here, there] = [await table(), await table()]
  const counts = { here: 0, failed: 0 }
  await fc.assert(
    fc.asyncProperty(rows, fc.boolean(), async (given, asCsv) => {
      const fields = (one: Record<string, unknown>) =>
        TYPES.map((type) => {
          const value = one[type]
          const plain = typeof value === 'object' && value !== null ? JSON.stringify(value) : value
          return plain === null ? '' : `"${String(plain).replaceAll('"', '""')}"`
        }).join(',')
      const body = asCsv
        ? `${TYPES.map((type) => `"${type}"`).join(',')}\n${given.map(fields).join('\n')}\n`
        : JSON.stringify({ rows: given })
      const format = asCsv ? 'csv' : 'json'
      const found = await outcome(here, Buffer.from(body), format, false)
      expect(found).toEqual(await outcome(there, Buffer.from(body), format, true))
      if ('error' in found) counts.failed++
      else counts.here++
    }),
    { numRuns: Number(process.env['PARQUETRY_HERE'] ?? 60) },
  )
  expect(counts.here).toBeGreaterThan(10)
  expect(counts.failed).toBeGreaterThan(2)
})

test('an append starts no process, waits for the disk of the catalog once, and for libuv only to sync', async () => {
  const dataset = await table()
  const append = (integer: number) =>
    dataset.append({ format: 'json', missing: 'null', body: Buffer.from(JSON.stringify([{ integer }])) })
  await append(1)
  await engine.settled()
  const write = vi.spyOn(Socket.prototype, 'write')
  let files = 0
  const hook = createHook({ init: (_, type) => void (files += Number(type.startsWith('FSREQ'))) }).enable()
  try {
    await append(2)
    // The file and its folder, and the log of the catalog.
    expect(files).toBe(3)
    expect(write).not.toHaveBeenCalled()
  } finally {
    hook.disable()
    vi.restoreAllMocks()
  }
})
