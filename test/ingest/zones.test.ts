import { readFileSync } from 'node:fs'
import { Table, TimestampMicrosecond, tableToIPC, vectorFromArray } from 'apache-arrow'
import { describe, expect, test } from 'vitest'
import { checkUploadOptions, type UploadFormat, type UploadOptions } from '../../engine/ingest/request.ts'
import { column, declared, useBench } from './support/helper.ts'
import { raw, workbook } from './xlsx/workbooks.ts'

const bench = useBench()
const existing = [column('t', 'timestamptz'), column('u', 'timestamp'), column('s', 'string')]
const LOCAL = '2024-07-01T12:00:00'

/** Two rows as each format has them: a time with an offset (in a workbook, as our exports write it), then one without. */
const uploads = {
  csv: () => `t,u,s\n2024-07-01T09:00:00Z,${LOCAL},${LOCAL}\n${LOCAL},,\n`,
  tsv: () => `t\tu\ts\n2024-07-01T09:00Z\t${LOCAL}\t${LOCAL}\n${LOCAL}\t\t\n`,
  json: () => JSON.stringify([{ t: '2024-07-01T09:00:00Z', u: LOCAL, s: LOCAL }, { t: LOCAL }]),
  ndjson: () => `{"t":"2024-07-01T11:00+02:00","u":"${LOCAL}","s":"${LOCAL}"}\n{"t":"${LOCAL}"}\n`,
  xlsx: () =>
    workbook((sheet) => {
      sheet.addRows([
        ['t', 'u', 's'],
        ['2024-07-01T09:00:00Z', new Date(`${LOCAL}Z`), LOCAL],
        [new Date(`${LOCAL}Z`)],
      ])
      for (const cell of ['B2', 'A3']) sheet.getCell(cell).numFmt = 'yyyy-mm-dd hh:mm:ss'
    }),
}
const formats = Object.keys(uploads) as (keyof typeof uploads)[]

describe('times without an offset in a column of timestamptz', () => {
  test.each(formats)('%s: are refused with row, column and value', async (format) => {
    const content = await uploads[format]()
    expect(await bench.refusal(format, content, { existing })).toBe(
      `400 invalid_upload: Row 2, column "t": "${LOCAL}" is not a timestamptz. Add its offset, such as Z or +02:00; ` +
        "for a whole upload, zone=Europe/Berlin says which zone's clocks show it.",
    )
    expect(
      await bench.refusal(format, content, {
        declared: declared({ t: 'timestamptz', u: 'timestamp', s: 'string' }),
      }),
    ).toMatch(/^400 invalid_upload: Row 2, column "t": /)
  })

  test.each(formats)('%s: are those of the zone that the upload names', async (format) => {
    const content = await uploads[format]()
    const read = async (zone: string) =>
      (await bench.read(format, content, { existing, options: { zone } })).values
    const first = ['2024-07-01 09:00:00+00', '2024-07-01 12:00:00', LOCAL]
    expect(await read('Europe/Berlin')).toEqual([first, ['2024-07-01 10:00:00+00', null, null]])
    expect(await read('-03:30')).toEqual([first, ['2024-07-01 15:30:00+00', null, null]])
    expect(await read('+02:00')).toEqual([first, ['2024-07-01 10:00:00+00', null, null]])
    expect(await read('UTC')).toEqual([first, ['2024-07-01 12:00:00+00', null, null]])
  })

  test('are refused with every row that has one', async () => {
    const error = await bench
      .read('csv', `t\n${LOCAL}\n\n${LOCAL}Z\n2024-07-01 13:00\n`, { existing: [existing[0]!] })
      .catch((error) => error)
    expect(error.details).toMatchObject({ row: 1, column: 't', value: LOCAL, option: 'zone' })
    expect(error.details.errors.map(({ row }: { row: number }) => row)).toEqual([1, 4])
  })

  test('csv of another dialect, empty fields and days', async () => {
    const content = `t;n\n01.07.2024 12:00;1,5\n"";2\n;3\n2024-07-01;4\n2024-07-01T12:00+00:00;5\n`
    const given = { declared: declared({ t: 'timestamptz' }) }
    const options: UploadOptions = { delimiter: ';', decimal: ',', dates: 'DD.MM.YYYY' }
    expect(await bench.refusal('csv', content, { ...given, options })).toMatch(
      /^400 invalid_upload: Row 1, column "t"/,
    )
    const { shape, values } = await bench.read('csv', content, {
      ...given,
      options: { ...options, zone: 'Asia/Kolkata' },
    })
    expect(shape).toEqual(['t: timestamptz', 'n: double'])
    expect(values.map(([t]) => t)).toEqual([
      '2024-07-01 06:30:00+00',
      null,
      null,
      '2024-06-30 18:30:00+00',
      '2024-07-01 12:00:00+00',
    ])
  })

  test('a zone changes no column of another type', async () => {
    const content = `a,b,c\n${LOCAL},${LOCAL}Z,2024-07-01\n2024-07-01,${LOCAL},\n`
    const { shape, values } = await bench.read('csv', content, { options: { zone: 'Europe/Berlin' } })
    expect(shape).toEqual(['a: timestamp', 'b: string', 'c: date'])
    expect(values[0]).toEqual(['2024-07-01 12:00:00', `${LOCAL}Z`, '2024-07-01'])
  })

  test('without a zone, times with an offset and days are taken as before', async () => {
    const content = 't\n2024-07-01T12:00:00Z\n2024-07-01 12:00+0200\n2024-07-01\n\n0001-01-01\n'
    const { values } = await bench.read('csv', content, { existing: [existing[0]!] })
    expect(values.flat()).toEqual([
      '2024-07-01 12:00:00+00',
      '2024-07-01 10:00:00+00',
      '2024-07-01 00:00:00+00',
      null,
      '0001-01-01 00:00:00+00',
    ])
  })

  test('a workbook cell in the form of our exports has an offset', async () => {
    const style = '<v>45474.5</v>'
    const content = await raw(
      `<row r="1"><c r="A1" t="str"><v>t</v></c></row><row r="2"><c r="A2">${style}</c></row>`,
    )
    expect(await bench.refusal('xlsx', content, { existing: [existing[0]!] })).toMatch(
      /^400 invalid_upload: Row 1, column "t"/,
    )
  })
})

describe('typed formats', () => {
  const parquet = async (select: string) => {
    const file = bench.path()
    await bench.query(`COPY (${select}) TO '${file}' (FORMAT parquet)`)
    return readFileSync(file)
  }
  const arrow = (times: readonly (number | null)[]) =>
    tableToIPC(new Table({ t: vectorFromArray(times, new TimestampMicrosecond()) }), 'stream')
  const given = { existing: [existing[0]!] }

  test.each<[UploadFormat, () => Promise<Uint8Array>]>([
    [
      'parquet',
      () =>
        parquet(
          `SELECT unnest([TIMESTAMP '2024-07-01 12:00:00.000001', NULL, TIMESTAMP '2024-12-01 12:00:00']) AS t`,
        ),
    ],
    ['arrow', async () => arrow([Date.UTC(2024, 6, 1, 12) + 0.001, null, Date.UTC(2024, 11, 1, 12)])],
  ])('%s: columns without a zone need one', async (format, make) => {
    const content = await make()
    const conflict =
      /^409 column_conflict: Column "t" is timestamp in the upload; the dataset wants timestamptz. Say .* zone=Europe\/Berlin\.$/
    expect(await bench.refusal(format, content, given)).toMatch(conflict)
    const { values } = await bench.read(format, content, { ...given, options: { zone: 'Europe/Berlin' } })
    expect(values.flat()).toEqual(['2024-07-01 10:00:00.000001+00', null, '2024-12-01 11:00:00+00'])
    const alone = await bench.read(format, content, { options: { zone: 'Europe/Berlin' } })
    expect(alone.shape).toEqual(['t: timestamp'])
  })

  test('Parquet: days are midnight in the zone, and times adjusted to UTC stay as they are', async () => {
    const content = await parquet("SELECT DATE '2024-07-01' AS d, TIMESTAMPTZ '2024-07-01 12:00:00+00' AS t")
    const wanted = declared({ d: 'timestamptz', t: 'timestamptz' })
    const read = async (options: UploadOptions) =>
      (await bench.read('parquet', content, { declared: wanted, options })).values
    expect(await read({})).toEqual([['2024-07-01 00:00:00+00', '2024-07-01 12:00:00+00']])
    expect(await read({ zone: 'Europe/Berlin' })).toEqual([
      ['2024-06-30 22:00:00+00', '2024-07-01 12:00:00+00'],
    ])
  })

  test('Parquet: a time that the zone skips is named', async () => {
    const content = await parquet(`SELECT unnest([NULL, TIMESTAMP '2024-03-31 02:30:00']) AS t`)
    expect(await bench.refusal('parquet', content, { ...given, options: { zone: 'Europe/Berlin' } })).toBe(
      '400 invalid_upload: Row 2, column "t": "2024-03-31T02:30:00" does not exist in Europe/Berlin. Add its offset, such as Z or +02:00.',
    )
  })
})

describe('changes of clocks', () => {
  const SKIPPED = 'does not exist in'
  const TWICE = 'exists twice in'
  const BEYOND = 'is beyond the years 1 to 9999 in UTC'
  test.each([
    ['Europe/Berlin', '2024-03-31T01:59:59.999999', '2024-03-31 00:59:59.999999+00'],
    ['Europe/Berlin', '2024-03-31T02:00', SKIPPED],
    ['Europe/Berlin', '2024-03-31 02:59:59.999999', SKIPPED],
    ['Europe/Berlin', '2024-03-31T03:00:00', '2024-03-31 01:00:00+00'],
    ['Europe/Berlin', '2024-10-27T01:59:59', '2024-10-26 23:59:59+00'],
    ['Europe/Berlin', '2024-10-27T02:00:00', TWICE],
    ['Europe/Berlin', '2024-10-27T02:59:59.999999', TWICE],
    ['Europe/Berlin', '2024-10-27T03:00:00', '2024-10-27 02:00:00+00'],
    ['Europe/Berlin', '2024-10-27T02:30:00+01:00', '2024-10-27 01:30:00+00'],
    ['America/New_York', '2024-03-10T02:30:00', SKIPPED],
    ['Australia/Lord_Howe', '2024-04-07T01:45:00', TWICE],
    ['Australia/Lord_Howe', '2024-10-06T02:15:00', SKIPPED],
    ['Pacific/Apia', '2011-12-30', SKIPPED],
    ['America/Sao_Paulo', '2018-11-04', SKIPPED],
    ['Asia/Kathmandu', '2024-01-01T00:00:00', '2023-12-31 18:15:00+00'],
    ['America/New_York', '9999-12-31T23:59:59', BEYOND],
    ['+02:00', '0001-01-01T00:00:00', BEYOND],
    ['UTC', '0001-01-01T00:00:00', '0001-01-01 00:00:00+00'],
  ])('%s %s: %s', async (zone, text, expected) => {
    const content = `i,t\n1,2024-07-01T00:00:00Z\n\n2,${text}\n`
    const given = { declared: declared({ t: 'timestamptz' }), options: { zone } }
    const refusal = await bench.read('csv', content, given).then(
      ({ values }) => values[1]![1],
      ({ message, details }) => `${details.row} ${details.column} ${details.value}: ${message}`,
    )
    if (!/^\d/.test(expected)) expect(refusal).toContain(`2 t ${text}: `)
    expect(refusal).toContain(expected)
  })

  test('every zone that is known here is known to DuckDB', async () => {
    for (const zone of Intl.supportedValuesOf('timeZone')) {
      await bench.query(`SELECT timezone('${zone}', TIMESTAMP '2024-01-01')`)
    }
  })
})

test.each(['Mars/Base', 'Berlin', '+25:00', "x'", '', '2024', 'GMT+2'])('zone=%s is no zone', (zone) => {
  expect(() => checkUploadOptions('csv', { zone })).toThrow(
    /^zone must be a time zone such as Europe\/Berlin, or an offset such as \+02:00/,
  )
})
