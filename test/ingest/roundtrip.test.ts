import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Dataset, type DeclaredColumn, FORMATS, type Format } from '../../engine/index.ts'
import { endingOf } from '../../engine/types/index.ts'
import { bytesOf, newDataset, openWorkplace, textOf } from '../engine/workplace.ts'

const place = await openWorkplace()
afterAll(() => place[Symbol.asyncDispose]())

const COLUMNS: readonly DeclaredColumn[] = [
  { name: 'ok', type: 'boolean' },
  { name: 'i', type: 'integer' },
  { name: 'I', type: 'integer' },
  { name: 'x', type: 'double' },
  { name: 'd', type: 'decimal(38,10)' },
  { name: 'text "quoted", é\n', type: 'string' },
  { name: 'day', type: 'date' },
  { name: 'clock', type: 'time' },
  { name: 'at', type: 'timestamp' },
  { name: 'zoned', type: 'timestamptz' },
  { name: 'u', type: 'uuid' },
  { name: 'bin', type: 'binary' },
  { name: 'j', type: 'json' },
]

const ROWS = JSON.stringify({
  rows: [
    [
      true,
      '9223372036854775807',
      1,
      0.1,
      '1234567890123456789012345678.0123456789',
      'plain',
      '2020-02-29',
      '10:20:30',
      '2020-01-01T10:20:30.123456',
      '2020-06-01T00:00:00Z',
      '550e8400-e29b-41d4-a716-446655440000',
      'AAEC/w==',
      { a: [1, 'é', null] },
    ],
    [
      false,
      '-9223372036854775808',
      -1,
      'NaN',
      '-0.0000000001',
      '',
      '0001-01-01',
      '23:59:59.999999',
      '1999-12-31T23:59:59',
      '1969-12-31T23:59:59.999499Z',
      null,
      '',
      [1.1],
    ],
    [
      null,
      0,
      null,
      'INF',
      0,
      ' "x",\n\ty\r\n',
      '9999-12-31',
      '00:00',
      '9999-12-31T23:59:59.999',
      '2020-06-01T12:00+02:00',
      null,
      'aGVsbG8=',
      'text',
    ],
    [true, 7, 2, '-INF', '1', 'NaN', null, null, null, null, null, null, 5],
    [false, 8, 3, 1e300, null, '007', '1900-03-01', '12:00', '1900-03-01T00:00:00', null, null, null, null],
  ],
})

/** The rows of a dataset as a file. */
async function exported(
  dataset: Dataset,
  format: Format,
  directory: string,
): Promise<{ readonly file: string }> {
  const file = join(directory, `export.${format}`)
  await (await dataset.query()).toFile(file, format)
  return { file }
}

/** Ours in every format that rows leave in, and the whole of it again. */
test.each(FORMATS)('what is exported as %s goes in again as it was', async (format) => {
  const { engine, directory } = place
  const dataset = await newDataset(engine, COLUMNS)
  await dataset.append({ body: bytesOf(ROWS), format: 'json' })
  const copy = await newDataset(engine, COLUMNS)
  await copy.append({ body: await exported(dataset, format, directory), format: endingOf(format) })
  const text = async (one: typeof dataset) => textOf(await (await one.query()).bytes('csv'))
  expect(await text(copy)).toBe(await text(dataset))
})

test.each(
  FORMATS.filter((format) => format !== 'tsv'),
)('what is exported as %s gets its types again where they are inferred', async (format) => {
  const { engine, directory } = place
  const inferable = COLUMNS.filter(({ name }) => !['d', 'u', 'bin', 'j', 'i', 'x'].includes(name))
  const dataset = await newDataset(engine, inferable)
  const rows = (JSON.parse(ROWS) as { rows: unknown[][] }).rows.map((row) =>
    row.filter((_, index) => inferable.includes(COLUMNS[index]!)),
  )
  await dataset.append({ body: bytesOf(JSON.stringify({ rows })), format: 'json' })
  const copy = await newDataset(engine)
  await copy.append({ body: await exported(dataset, format, directory), format: endingOf(format) })
  expect((await copy.record()).columns.map(({ name, type }) => `${name}: ${type}`)).toEqual(
    (await dataset.record()).columns.map(({ name, type }) => `${name}: ${type}`),
  )
})

test.each(FORMATS)('a byte order mark at the beginning of the first name stays in %s', async (format) => {
  const { engine, directory } = place
  const dataset = await newDataset(engine, [{ name: '\ufeffn', type: 'integer' }])
  await dataset.append({ body: bytesOf('{"\ufeffn":1}'), format: 'ndjson' })
  const copy = await newDataset(engine)
  await copy.append({ body: await exported(dataset, format, directory), format: endingOf(format) })
  expect((await copy.record()).columns.map(({ name }) => name)).toEqual(['\ufeffn'])
})

test.each(FORMATS)('byte order marks and line ends in texts stay as they are in %s', async (format) => {
  const { engine, directory } = place
  const dataset = await newDataset(engine)
  const copy = await newDataset(engine)
  for (const first of ['\ufeffa', '\ufeff', 'a\r\nb', '\r', '\n']) {
    const rows = [first, 'b\ufeff', 'c\r\n', '\rd'].map((s) => `${JSON.stringify({ s })}\n`).join('')
    await dataset.replace({ body: bytesOf(rows), format: 'ndjson' })
    await copy.replace({ body: await exported(dataset, format, directory), format: endingOf(format) })
    expect(await textOf(await (await copy.query()).bytes('ndjson'))).toBe(rows)
  }
})
