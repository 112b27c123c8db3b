import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { constants, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { spool } from '../../engine/ingest/file.ts'
import { accepts, TEXT_KIND } from '../../engine/ingest/text/text-kinds.ts'
import { uploadFormatOf } from '../../engine/ingest/upload-format.ts'
import { useBench } from './support/helper.ts'

const bench = useBench()

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

describe('gzip', () => {
  test('around the text forms, also in several members', async () => {
    const packed = Buffer.concat([gzipSync('a,b\n1,'), gzipSync('2\n')])
    expect((await bench.read('csv', packed, { gzip: true })).values).toEqual([['1', '2']])
    expect((await bench.read('ndjson', gzipSync('{"a":1}'), { gzip: true })).values).toEqual([['1']])
  })

  test('stops where it unpacks to more than the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 'x'))
    expect(await bench.refusal('csv', bomb, { gzip: true, limits: { unpackedBytes: 1_000_000 } })).toBe(
      '413 upload_too_large: The upload unpacks to more than 1000000 bytes.',
    )
  })

  test('finds what is wrong in the middle of a packed csv file of gigabytes', async () => {
    const lines = Buffer.from(`a,b\n${'1,2\n'.repeat(24_000_000)}1\n`)
    // As small as real tables get, not as repeated lines do.
    const pack = (bytes: Buffer) => gzipSync(bytes, { strategy: constants.Z_FIXED })
    const packed = Buffer.concat([pack(lines), ...Array(16).fill(pack(Buffer.alloc(1 << 26, '1,2\n')))])
    expect(await bench.refusal('csv', packed, { gzip: true, limits: { unpackedBytes: 2 ** 32 } })).toBe(
      '400 invalid_upload: Row 24000001: it has 1 of the 2 fields of the header: "1". Remove the line if it is a note.',
    )
  })

  test('unpacks to no more than hundreds of times its size, which no table does', async () => {
    const bomb = gzipSync(Buffer.concat([Buffer.from('a\n'), Buffer.alloc(200 * 2 ** 20, '0')]))
    const most = 128 * 2 ** 20 + 200 * bomb.length
    expect(await bench.refusal('csv', bomb, { gzip: true })).toBe(
      `413 upload_too_large: The upload unpacks to more than ${most} bytes, the most for ${bomb.length} bytes. ` +
        'Send it unpacked, or in parts.',
    )
  })

  test('damaged or cut off', async () => {
    const packed = gzipSync(`a\n${'1\n'.repeat(100_000)}`)
    const message = '400 invalid_upload: The gzip data are damaged or cut off.'
    expect(await bench.refusal('csv', packed.subarray(0, 100), { gzip: true })).toBe(message)
    expect(await bench.refusal('csv', 'a,b\n1,2\n', { gzip: true })).toBe(message)
    expect(await bench.refusal('csv', packed.fill(7, 100, 120), { gzip: true })).toBe(message)
  })
})

test('a body in chunks of any size is on disk as it came', async () => {
  const body = Buffer.from(Array.from({ length: 3_500_000 }, (_, i) => i * 7 + (i >> 9)))
  const file = bench.path()
  const cut = async function* () {
    const sizes = [0, 1, 1_000_000, 48_575, 1, 2_000_000]
    let at = 0
    for (const size of [...sizes, body.length]) yield body.subarray(at, (at += size))
  }
  expect(await spool(cut(), file, { bytes: body.length })).toEqual({ bytes: body.length })
  expect(readFileSync(file).equals(body)).toBe(true)
})

describe('what would grow without end', () => {
  test('a field or a row longer than 64 MiB', async () => {
    const long = 'x'.repeat(70_000_000)
    const message = '400 invalid_upload: Row 2 is longer than 64 MiB.'
    expect(await bench.refusal('csv', `a,b\n1,2\n3,${long}\n`)).toBe(message)
    expect(await bench.refusal('csv', `a,b\n1,2\n3,"${long}`)).toBe(message)
    expect(await bench.refusal('ndjson', `{"a":1}\n{"a":"${long}`)).toBe(message)
  })

  test('a column for every row', async () => {
    const rows = Array.from({ length: 20_001 }, (_, index) => `{"k${index}":1}`)
    expect(await bench.refusal('ndjson', rows.join('\n'))).toMatch(
      /^413 upload_too_large: The table is too sparse: up to row 16\d\d it has 16\d\d cells with a value and 1\d{6} empty ones\.$/,
    )
    const wide = `{${Array.from({ length: 20_001 }, (_, index) => `"k${index}":1`).join(',')}}`
    expect(await bench.refusal('ndjson', wide)).toBe(
      '400 invalid_upload: Row 1 has a key "k20000", which would be column 20001: too many.',
    )
    expect(await bench.refusal('ndjson', `${rows.slice(1).join('\n')}\n${'{}\n'.repeat(20_000)}`)).toMatch(
      /^413 upload_too_large/,
    )
  })
})

describe('spool', () => {
  test('writes a body to a file', async () => {
    const file = bench.path()
    expect(await spool(chunks('ab', 'c'), file, { bytes: 3 })).toEqual({ bytes: 3 })
    expect(readFileSync(file, 'utf8')).toBe('abc')
  })

  test('removes the file where the body is too large, fails or is given up', async () => {
    const file = bench.path()
    await expect(spool(chunks('ab', 'cd'), file, { bytes: 3 })).rejects.toMatchObject({
      code: 'upload_too_large',
      message: 'The upload is larger than 3 bytes.',
    })
    const broken = (async function* () {
      yield Buffer.from('x')
      throw new Error('connection lost')
    })()
    await expect(spool(broken, file, { bytes: 3 })).rejects.toThrow('connection lost')
    const gone = AbortSignal.abort()
    await expect(spool(chunks('a'), file, { bytes: 3, signal: gone })).rejects.toMatchObject({
      code: 'cancelled',
    })
    expect(existsSync(file)).toBe(false)
  })
})

describe('an upload that is given up', () => {
  const large = `a,b\n${'1,2.5\n'.repeat(3_000_000)}`

  test.each([
    'before it is read',
    'soon after its start',
    'when a part of it was read',
  ])('%s ends at once and leaves nothing behind', async (moment) => {
    const file = bench.file(large)
    const abort = new AbortController()
    const given = { signal: abort.signal, onProgress: () => abort.abort() }
    if (moment === 'before it is read') setTimeout(() => abort.abort(), 0)
    if (moment === 'soon after its start') setTimeout(() => abort.abort(), 30)
    const before = readdirSync(bench.folder)
    await expect(bench.ingest('csv', file, given)).rejects.toMatchObject({ code: 'cancelled' })
    expect(readdirSync(bench.folder)).toEqual(before)
  })

  test('tells how far it is', async () => {
    const seen: number[] = []
    const { rows } = await bench.ingest('csv', bench.file(large), {
      onProgress: ({ bytes }) => seen.push(bytes),
    })
    expect(rows).toBe(3_000_000)
    expect(seen.length).toBeGreaterThan(0)
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  })
})

test.each([
  ['a.csv', { format: 'csv', gzip: false }],
  ['A.CSV.GZ', { format: 'csv', gzip: true }],
  ['x/y.tsv', { format: 'tsv', gzip: false }],
  ['a.b.jsonl.gz', { format: 'ndjson', gzip: true }],
  ['a.json', { format: 'json', gzip: false }],
  ['a.parquet', { format: 'parquet', gzip: false }],
  ['a.parquet.gz', { format: 'zip', gzip: false }],
  ['a.csv.zst', { format: 'zip', gzip: false }],
  ['a.xlsx', { format: 'xlsx', gzip: false }],
  ['a.arrow', { format: 'arrow', gzip: false }],
  ['a.gz', { format: 'zip', gzip: false }],
  ['csv', undefined],
  ['a.txt', undefined],
  ['a.constructor', undefined],
])('the format of %s', (name, expected) => {
  expect(uploadFormatOf(name)).toEqual(expected)
})

test('a number of very many digits is told apart from one that fits', () => {
  const zeros = '0'.repeat(100_000)
  const isDecimal = (text: string) => accepts('decimal(10,2)', TEXT_KIND.looseNumber, true, () => text)
  expect(isDecimal(`1${zeros}1`)).toBe(false)
  expect(isDecimal(`${zeros}1.${zeros}1`)).toBe(false)
  expect(isDecimal(`${zeros}1.5${zeros}`)).toBe(true)
  expect(isDecimal(`${zeros}x`)).toBe(false)
})

describe('long texts', () => {
  const long = (where: string, rows = 400_000) =>
    `SELECT CASE WHEN ${where} THEN repeat('x', 300000) ELSE 'short' END AS t FROM range(${rows}) i(i)`
  const upload = async (sql: string) => {
    const file = bench.path()
    await bench.query(`COPY (${sql}) TO '${file}' (FORMAT parquet, CODEC 'zstd')`)
    expect(readFileSync(file).length).toBeLessThan(2_000_000)
    return file
  }

  test('of some rows in a row, of which the others have short ones, are refused if together they are too long', async () => {
    expect(
      await bench.refusal('parquet', readFileSync(await upload(long('i BETWEEN 100000 AND 102500')))),
    ).toBe(
      '413 upload_too_large: The texts of rows 100353 to 102400 have 614400000 bytes, and those of so many rows are ' +
        'read at once: they may have 536870912 bytes. Shorten them, or put the rows with long texts into a dataset of ' +
        'their own.',
    )
  })

  test('that stand far enough from each other are taken', async () => {
    const { rows } = await bench.ingest('parquet', await upload(long('i % 160 = 0')))
    expect(rows).toBe(400_000)
  })

  test('among so few short ones that the part is cut into parts of few rows are taken', async () => {
    const { rows } = await bench.ingest('parquet', await upload(long('i BETWEEN 2048 AND 4095', 5_000)))
    expect(rows).toBe(5_000)
  })

  test('of Parquet are counted as often as they stand there', async () => {
    const file = readFileSync(await upload(long('i % 160 = 0')))
    expect(await bench.refusal('parquet', file, { limits: { unpackedBytes: 100_000_000 } })).toBe(
      '413 upload_too_large: The upload unpacks to more than 100000000 bytes.',
    )
  })
})
