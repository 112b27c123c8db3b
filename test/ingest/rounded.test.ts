import { expect, test } from 'vitest'
import type { UploadFormat } from '../../engine/ingest/request.ts'
import { declared, useBench } from './support/helper.ts'

const bench = useBench()
const LONG = '0.12345678901234567890'

function warning(row: number, value: string): string {
  return `Row ${row}, column "v": "${value}" has more digits than a double keeps. Declare the column as decimal(p,s), or as string, to keep them.`
}

async function warnings(format: UploadFormat, content: string, given = {}) {
  return (await bench.read(format, content, given)).warnings
}

test.each<[UploadFormat, string, object, number, string]>([
  ['csv', `k,v\na,1.5\nb,${LONG}\nc,${LONG}1\n`, {}, 2, LONG],
  ['tsv', 'k\tv\na\t-1.2345678901234567891e-7\n', {}, 1, '-1.2345678901234567891e-7'],
  ['csv', 'v\n123456789012345.678901\n', {}, 1, '123456789012345.678901'],
  ['csv', `k;v\na;1,5\nb;${LONG.replace('.', ',')}\n`, { options: { dialect: 'auto' } }, 2, LONG],
  ['ndjson', `{"v":1.5}\n{"v":${LONG}}\n`, {}, 2, LONG],
  ['csv', `v\n${LONG}\n`, { declared: declared({ v: 'double' }) }, 1, LONG],
])('%s %j: names the first number of a column whose digits a double does not keep', async (...row) => {
  const [format, content, given, first, value] = row
  expect(await warnings(format, content, given)).toEqual([warning(first, value)])
})

test.each([
  ['17 digits, as pandas writes them', '0.30000000000000004'],
  ['zeros without digits', '0.00000000000000000000'],
  ['zeros', '0.10000000000000000000'],
  ['zeros before and after', '0.0000000000000000000000012500000000000000000'],
  ['17 digits with an exponent', '-1.7976931348623157e+308'],
])('says nothing of %s', async (_, value) => {
  const read = await bench.read('csv', `v\n1.5\n${value}\n`)
  expect(read.shape).toEqual(['v: double'])
  expect(read).not.toHaveProperty('warnings')
})

test.each([
  'decimal(38,20)',
  'string',
] as const)('says nothing where a column of %s keeps them', async (type) => {
  const read = await bench.read('csv', `v\n${LONG}\n`, { declared: declared({ v: type }) })
  expect(read).toMatchObject({ values: [[LONG]] })
  expect(read).not.toHaveProperty('warnings')
  expect(await warnings('csv', `v\n${LONG}\nabc\n`)).toBeUndefined()
})
