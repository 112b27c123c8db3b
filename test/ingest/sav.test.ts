import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { column, type Given, useBench } from './support/helper.ts'

const bench = useBench()
const fixture = (name: string) => readFileSync(join(import.meta.dirname, 'fixtures', name))

type Seen = readonly (readonly (string | number | null)[])[]
/** What pyreadstat reads in these files. */
const SEEN = JSON.parse(fixture('values-sav.json').toString()) as Record<
  string,
  Record<'codes' | 'labels', Seen>
>
const LABELS: Given = { options: { labels: true } }

/** Values as pyreadstat gives them: numbers, and ISO 8601 with `T` and whole seconds without a fraction. */
const alike = (values: Seen, seen: Seen) =>
  values.map((row, at) =>
    row.map((value, column) => {
      const other = seen[at]![column]
      if (typeof other === 'number') return Number(value)
      return /^\d{4}-\d\d-\d\d \d/.test(String(value)) ? String(value).replace(' ', 'T') : value
    }),
  )
const inMillis = (seen: Seen) =>
  seen.map((row) => row.map((one) => (typeof one === 'string' ? one.replace(/(\.\d+?)0+$/, '$1') : one)))

/** A file of PSPP, changed at a position that is found by the bytes there. */
function changed(name: string, find: Buffer, change: (file: Buffer, at: number) => void): Buffer {
  const file = fixture(name)
  const at = file.indexOf(find)
  expect(at).toBeGreaterThan(0)
  change(file, at)
  return file
}

describe('an SPSS file', () => {
  test.each([
    'pyreadstat.sav',
    'pyreadstat.zsav',
  ])('%s has the values that pyreadstat reads', async (name) => {
    const { codes, labels } = SEEN['pyreadstat.sav']!
    const read = await bench.read('sav', fixture(name))
    expect(alike(read.values, codes)).toEqual(inMillis(codes))
    expect(read.shape).toEqual([
      ...['id: integer', 'score: double', 'name: string', 'long: string', 'longer: string', 'day: date'],
      ...['moment: timestamp', 'clock: time', 'code: integer', 'letter: string', 'huge: double'],
    ])
    const titles = read.columns.flatMap(({ name, title }) => (title === undefined ? [] : [[name, title]]))
    expect(titles).toEqual([
      ['id', 'The number'],
      ['code', 'Zufrieden?'],
      ['letter', 'Geschlecht (ä)'],
    ])
    expect(read.metadata).toEqual({ title: 'A survey' })
    const labelled = await bench.read('sav', fixture(name), LABELS)
    expect(alike(labelled.values, labels)).toEqual(inMillis(labels))
    expect(labelled.shape).toContain('code: string')
  })

  test.each([
    'pspp.sav',
    'pspp.zsav',
    'pspp-plain.sav',
  ])('%s has other times, texts of windows-1252, and missing values of long texts', async (name) => {
    const { codes, labels } = SEEN['pspp.sav']!
    const same = [0, 1, 2, 3, 4, 6, 10, 11]
    const some = (rows: Seen) => rows.map((row) => same.map((at) => row[at]!))
    const read = await bench.read('sav', fixture(name))
    expect(some(alike(read.values, codes))).toEqual(some(codes))
    const labelled = await bench.read('sav', fixture(name), LABELS)
    expect(some(alike(labelled.values, labels))).toEqual(some(labels))
    // pyreadstat takes whole days off durations, and leaves quarters and months as seconds.
    expect(read.values.slice(0, 2).map((row) => [row[5], ...row.slice(7, 10)])).toEqual([
      ['12:30:59', 'PT273906S', '2024-01-01', '2024-01-01'],
      ['25:00:00', 'PT1S', '1999-10-01', '1999-12-01'],
    ])
    expect(read.columns[1]!.title).toBe('Ein Name ü')
  })

  test('takes the types of the dataset that it is for', async () => {
    const { columns } = await bench.read('sav', fixture('pspp.sav'))
    const existing = columns.map(({ name, type }) => column(name, name === 'id' ? 'double' : type))
    expect((await bench.read('sav', fixture('pspp.sav'), { existing })).values[0]![0]).toBe('1.0')
    const text = columns.map(({ name, type }) => column(name, name === 'name' ? 'double' : type))
    expect(await bench.refusal('sav', fixture('pspp.sav'), { existing: text })).toContain(
      'Row 1, column "name": "Gruß mit é" is not a double.',
    )
  })

  test('keeps the type of a variable without any value', async () => {
    // The values of `dol` are made missing.
    const bytes = Buffer.alloc(8)
    const empty = ['3.25', '-4'].reduce((file, number) => {
      bytes.writeDoubleLE(Number(number))
      const at = file.lastIndexOf(bytes)
      if (at > 0) file.writeDoubleLE(-Number.MAX_VALUE, at)
      return file
    }, fixture('pspp-plain.sav'))
    const { shape, values } = await bench.read('sav', empty)
    expect(values.map((row) => row[11])).toEqual([null, null, null, null])
    expect(shape).toContain('dol: double')
  })
})

describe('an SPSS file is refused', () => {
  test('where a text is not of its encoding, or a day is none, with row and column', async () => {
    const text = changed('pspp-plain.sav', Buffer.from('WINDOWS-1252'), (file, at) =>
      file.write('UTF-8       ', at),
    )
    expect(await bench.refusal('sav', text)).toBe(
      '400 invalid_upload: Row 1, column "name": the text is not valid utf-8.',
    )
    const day = Buffer.alloc(8)
    day.writeDoubleLE(13_923_532_800)
    const late = changed('pspp-plain.sav', day, (file, at) => file.writeDoubleLE(1e15, at))
    expect(await bench.refusal('sav', late)).toBe(
      '400 invalid_upload: Row 1, column "d": the value is not a date of the years 1 to 9999.',
    )
    const none = changed('pspp-plain.sav', day, (file, at) => file.writeDoubleLE(Number.NaN, at))
    expect(await bench.refusal('sav', none)).toContain('Row 1, column "d": the value is not a date')
  })

  test('where its encoding is not known, or its bytes are in the other order', async () => {
    const unknown = changed('pspp-plain.sav', Buffer.from('WINDOWS-1252'), (file, at) =>
      file.write('windows-9999', at),
    )
    expect(await bench.refusal('sav', unknown)).toContain('has texts in "windows-9999", which is not known')
    const other = fixture('pspp.sav')
    other.writeInt32BE(2, 64)
    expect(await bench.refusal('sav', other)).toContain('written on a big-endian machine')
  })

  test('where it is cut off, wherever', async () => {
    const damaged = '400 invalid_upload: The SPSS file is damaged, or cut off.'
    for (const name of ['pspp.sav', 'pspp.zsav', 'pspp-plain.sav', 'pyreadstat.zsav']) {
      const whole = fixture(name)
      for (let part = 1; part < 20; part++) {
        const length = Math.floor((whole.length * part) / 20)
        expect(await bench.refusal('sav', whole.subarray(0, length)), `${name} ${length}`).toBe(damaged)
      }
    }
  })

  test('where it unpacks to too much', async () => {
    expect(
      await bench.refusal('sav', fixture('pyreadstat.zsav'), { limits: { unpackedBytes: 4_000 } }),
    ).toContain('413 upload_too_large: The upload unpacks to more than 4000 bytes.')
  })
})
