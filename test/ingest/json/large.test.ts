import { describe, expect, test } from 'vitest'
import { useBench } from '../support/helper.ts'

const bench = useBench()

const ROWS = 40_000
/** Makes a file of `ROWS` rows so long that it is read in several buffers. */
const PADDING = 'x'.repeat(430)

/** A large ndjson file, with some of its lines replaced. */
function lines(replaced: Readonly<Record<number, string>> = {}): string {
  const all = Array.from(
    { length: ROWS },
    (_, row) => replaced[row] ?? JSON.stringify({ n: row, s: PADDING }),
  )
  return `${all.join('\n')}\n`
}

/** The columns and all values but the padding, as read from ndjson and from JSON. */
async function bothWays(text: string) {
  const rows = text.trimEnd().replaceAll('}\n{', '},\n{')
  const found = []
  for (const [format, content] of [
    ['ndjson', text],
    ['json', `[${rows}]`],
  ] as const) {
    const { shape, values, rawBytes, rows } = await bench.read(format, content)
    const kept = values.map((row) => row.map((value) => (value === PADDING ? '' : value)))
    found.push({ shape, rawBytes, rows, values: kept })
  }
  return found
}

describe('a large ndjson file is read as the same rows in JSON:', () => {
  test.for([
    ['its rows keep their order', {}],
    ['types are those of all rows', { 3: '{"n":null,"s":"a"}', [ROWS - 1]: '{"n":1.5,"s":"b"}' }],
    [
      'columns of the last rows are found',
      { [ROWS - 2]: '{"new":true}', [ROWS - 1]: '{"s":"y","n":7,"more":[1]}' },
    ],
    [
      'a column is nested everywhere if it is in one row',
      { 0: '{"n":0,"s":"\\"q\\""}', [ROWS - 9]: '{"n":1,"s":{"a":1}}' },
    ],
    ['rows may have several lines', { [ROWS / 2]: `{\n"n":\n${'\n'.repeat(9_000_000)}5}` }],
  ] as const)('%s', async ([, replaced]) => {
    const [ndjson, json] = await bothWays(lines(replaced))
    expect(ndjson!.shape).toEqual(json!.shape)
    expect([ndjson!.rows, ndjson!.rawBytes]).toEqual([ROWS, json!.rawBytes])
    expect(ndjson!.values).toEqual(json!.values)
  })
})

test.for([
  ['a line that is cut off', '{"n":1,"s":', /Row 39991, byte/],
  ['a key that is there twice', '{"n":1,"n":2}', /Row 39991: the key "n" stands twice/],
] as const)('%s is refused by the row of the whole file', async ([, line, message]) => {
  expect(await bench.refusal('ndjson', lines({ [ROWS - 10]: line }))).toMatch(message)
})

test('a mark of the byte order is refused where a row begins', async () => {
  const long = (bytes: number) => `{"s":"${'x'.repeat(bytes)}"}\n`
  const text = `${long(8_800_000)}\ufeff${long(8_300_000)}`
  expect(await bench.refusal('ndjson', text)).toMatch(/^400 .*: Row 2, byte 88000\d\d: expected a row/)
})

test('a value that is none of its declared type is refused by the row of the whole file', async () => {
  const declared = [
    { name: 'n', type: 'integer' as const },
    { name: 's', type: 'string' as const },
  ]
  const text = lines({ [ROWS - 1]: '{"n":"x"}' })
  expect(await bench.refusal('ndjson', text, { declared })).toMatch(/row 40000/i)
})

test('progress is that of the whole file, and never goes back', async () => {
  const text = lines()
  const told: number[] = []
  await bench.ingest('ndjson', bench.file(text), { onProgress: ({ bytes }) => told.push(bytes) })
  expect(told).toEqual(told.toSorted((a, b) => a - b))
  expect(told.at(-1)).toBeLessThanOrEqual(text.length)
})

test('an upload that is given up leaves no file behind', async () => {
  const given = new AbortController()
  const reading = bench.ingest('ndjson', bench.file(lines()), {
    signal: given.signal,
    onProgress: () => given.abort(),
  })
  await expect(reading).rejects.toMatchObject({ code: 'cancelled' })
})
