import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { column, declared, useBench } from './support/helper.ts'

const bench = useBench()
const fileColumn = { column: 'file', name: "o'jan.csv" }
const CSV = 'n,t\n1,x\n2,\n'

describe('the column with the name of a file', () => {
  test('comes last, or where the dataset has it', async () => {
    const { shape, values, nulls } = await bench.read('csv', CSV, { fileColumn })
    expect(shape).toEqual(['n: integer', 't: string', 'file: string'])
    expect(values).toEqual([
      ['1', 'x', "o'jan.csv"],
      ['2', null, "o'jan.csv"],
    ])
    expect(nulls).toEqual([0, 1, 0])
    const existing = [
      column('n', 'double'),
      column('file', 'string', { nullable: false }),
      column('t', 'string'),
    ]
    const placed = await bench.read('csv', CSV, { fileColumn, existing, missing: 'error' })
    expect(placed.shape).toEqual(['n: double', 'file: string', 't: string'])
    expect(placed.columns).toEqual(existing)
    expect(placed.values[1]).toEqual(['2.0', "o'jan.csv", null])
  })

  test('is in the rows of every format', async () => {
    const { part } = await bench.read('csv', CSV)
    const rows = await bench.read('parquet', readFileSync(part), { fileColumn })
    expect(rows.values.map((row) => row.at(-1))).toEqual(["o'jan.csv", "o'jan.csv"])
    const json = await bench.read('ndjson', '{"n":1}\n{"t":"y"}\n', { fileColumn })
    expect(json.values).toEqual([
      ['1', null, "o'jan.csv"],
      [null, 'y', "o'jan.csv"],
    ])
    expect((await bench.read('csv', 'n\n', { fileColumn })).rows).toBe(0)
  })

  test('is not among the columns that a file lacks', async () => {
    const existing = [column('file', 'string'), column('n', 'integer'), column('t', 'string')]
    const lacks = await bench.refusal('csv', 'n\n1\n', { fileColumn, existing, missing: 'error' })
    expect(lacks).toContain('409 missing_columns: The upload lacks the column "t" of the dataset.')
    const given = { fileColumn, existing, missing: 'keep', key: ['file', 'n'] } as const
    const { unnamed, values } = await bench.read('csv', 'n\n1\n', given)
    expect([unnamed?.all, values]).toEqual([[2], [["o'jan.csv", '1', null]]])
  })

  test('may be declared', async () => {
    const columns = declared({ n: 'double', t: 'string', file: 'string' })
    expect((await bench.read('csv', CSV, { fileColumn, declared: columns })).shape[0]).toBe('n: double')
  })

  test.each([
    ['the file has it', {}, '400 invalid_option: The file itself has a column "file"', 'n,file\n1,x\n'],
    [
      'the dataset and the file have it',
      { existing: [column('n', 'integer'), column('file', 'string')] },
      '400 invalid_option: The file itself has a column "file": name another one with fileColumn=.',
      'n,file\n1,x\n',
    ],
    [
      'it is all that there is',
      { existing: [column('file', 'string')] },
      'The file itself has a column',
      'n\n1\n',
    ],
    [
      'the dataset has it as a number',
      { existing: [column('n', 'integer'), column('file', 'integer')] },
      '409 column_conflict: Column "file" is string in the upload; the dataset wants integer.',
      'n\n1\n',
    ],
    [
      'the dataset lacks it',
      { existing: [column('n', 'integer')] },
      '409 column_conflict: The upload has a column "file" of type string that the dataset does not have.',
      'n\n1\n',
    ],
    [
      'the file has no name',
      { fileColumn: { column: 'file' } },
      '400 invalid_option: fileColumn needs the name of the file: fileName=jan.csv.',
      'n\n1\n',
    ],
  ])('is refused where %s', async (_, given, message, content) => {
    expect(await bench.refusal('csv', content, { fileColumn, ...given })).toContain(message)
  })
})
