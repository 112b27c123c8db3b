import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { unpackLz4 } from '../../engine/ingest/arrow/lz4.ts'
import { useBench } from './support/helper.ts'
import { mutate, randomness } from './support/mutations.ts'

const bench = useBench()
const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url))

describe('files as other programs write them', () => {
  test.each(['polars-lz4.arrow', 'polars-stream-zstd.arrow'])('%s', async (name) => {
    const { shape, values } = await bench.read('arrow', fixture(name))
    expect(shape).toEqual(['a: integer', 's: string', 'n: string', 'd: string', 'c: string'])
    expect(values).toEqual([
      ['1', 'x', null, 'PT1S', 'u'],
      ['2', 'a text of more than twelve characters, '.repeat(4), null, 'PT1S', 'v'],
      [null, null, null, 'PT1S', 'u'],
    ])
  })

  test('a Feather file of pandas, which is lz4', async () => {
    const { rows, values } = await bench.read('arrow', fixture('pandas.feather'))
    expect(rows).toBe(3_000)
    expect(values).toEqual(Array.from({ length: 3_000 }, (_, n) => [String(n), `text ${n % 7}`.repeat(5)]))
  })

  test('UUIDs and JSON that say so', async () => {
    const { shape, values } = await bench.read('arrow', fixture('extensions.arrow'))
    expect(shape).toEqual(['id: uuid', 'doc: json'])
    expect(values).toEqual([['00000000-0000-0000-0000-000000000005', '{"a":1}']])
  })

  test.each([
    [
      'arrow',
      'polars-int128.arrow',
      'Column "wide" holds integers of 128 bits, which Arrow does not have: send decimals of up to 38 digits, or text.',
    ],
    ['parquet', 'decimal256.parquet', 'Column "wide" holds decimals of 39 digits; the most are 38.'],
  ] as const)('what no type holds is refused by its column: %s', async (format, name, message) => {
    expect(await bench.refusal(format, fixture(name))).toBe(`400 invalid_upload: ${message}`)
  })

  test('a column without values is text in every format', async () => {
    expect((await bench.read('parquet', fixture('nulls.parquet'))).shape).toEqual(['none: string'])
    expect((await bench.read('csv', 'none,b\n,1\n')).shape[0]).toBe('none: string')
    expect((await bench.read('json', '[{"none":null,"b":1}]')).shape[0]).toBe('none: string')
  })
})

test('damaged lz4 is refused, and never more than is allowed', () => {
  const feather = fixture('pandas.feather')
  const frame = feather.subarray(feather.indexOf(Buffer.from([4, 0x22, 0x4d, 0x18])))
  expect(unpackLz4(frame, 1 << 20).length).toBeGreaterThan(20_000)
  expect(() => unpackLz4(frame, 1_000)).toThrow(RangeError)
  for (let seed = 0; seed < 3_000; seed++) {
    const random = randomness(seed)
    try {
      expect(
        unpackLz4(mutate(frame.subarray(0, 1_000 + random(4_000)), random), 1 << 20).length,
      ).toBeLessThanOrEqual(1 << 20)
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError)
    }
  }
})
