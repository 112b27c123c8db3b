import { expect, test } from 'vitest'
import { declared, useBench } from './support/helper.ts'

const bench = useBench()

const THIN = '\u2009'
const MINUS = '\u2212'

/** What `because` suggests for a column of these values, in csv of our own dialect and of another one. */
async function suggested(values: readonly string[]): Promise<readonly (string | undefined)[]> {
  const text = (delimiter: string) =>
    `v${delimiter}k\n${values.map((one) => `${one}${delimiter}x\n`).join('')}`
  const [own] = (await bench.read('tsv', text('\t'))).reasons!
  const [other] = (await bench.read('csv', text(';'), { options: { delimiter: ';' } })).reasons!
  expect(other).toEqual(own)
  return [own?.try, own?.or]
}

test.each([
  [['03/04/2024', '03/25/2024'], ['dates=M/D/YYYY']],
  [['03/04/2024', '25/03/2024'], ['dates=D/M/YYYY']],
  [
    ['03/04/2024', '05/06/2024'],
    ['dates=D/M/YYYY', 'dates=M/D/YYYY'],
  ],
  [['1,234', '12,5'], ['decimal=,']],
  [['1,234', '1,234.5'], ['thousands=,']],
  [
    ['1,234', '5,678'],
    ['thousands=,', 'decimal=,'],
  ],
  [['1,5', '1.234,5'], ['decimal=,&thousands=.']],
  [['1,5', 'n/a', '2,5'], ['decimal=,']],
  [['12,5', 'Berlin', 'Paris'], []],
  [['NA', '1', '2'], ['nulls=NA']],
  [['NA', 'Windhoek'], []],
  [[`1${THIN}234,5`, '5'], ['decimal=,&thousands=%20']],
  [['1’234.5', '7'], ['thousands=%27']],
  [[`${MINUS}5`, '3'], ['decimal=.']],
  [['0,123', '0,456'], ['decimal=,']],
  [['01 234', '12 345'], []],
  [['€5', '£6', '€7'], []],
  [['€5', 'on request', '€7'], ['symbols=%E2%82%AC']],
  [['+0.3', '-0.2', '+5'], ['symbols=%2B']],
  [['+0,3', '-0,2'], ['symbols=%2B&decimal=,']],
  [['+5%', '-2%'], ['symbols=%2B,%25']],
  [['+4915112345', '-1'], []],
  [['+', '-1', '+1'], []],
  [['+0100', '-0500'], []],
  [[' 1', '2', 'n/a'], ['symbols=%20']],
  [['1,5 ', ' 2'], ['symbols=%20&decimal=,']],
])('options are those that read most of the values looked at: %j', async (values, [better, or]) => {
  expect(await suggested(values)).toEqual([better, or])
})

test.each([
  [`1${THIN}234,5`, { decimal: ',', thousands: ' ' }, '1234.5'],
  [`${MINUS}1 234,5`, { decimal: ',', thousands: ' ' }, '-1234.5'],
  ['1’234.5', { thousands: "'" }, '1234.5'],
  [`${MINUS}1.5`, { decimal: '.' }, '-1.5'],
  [`${MINUS}5`, { decimal: '.' }, '-5.0'],
] as const)('%s is a number with the options that are suggested', async (text, options, expected) => {
  const content = `v;k\n${text};x\n0.5;y\n`.replace(
    '0.5',
    'decimal' in options && options.decimal === ',' ? '0,5' : '0.5',
  )
  const { shape, values } = await bench.read('csv', content, { options: { delimiter: ';', ...options } })
  expect([shape[0], values[0]![0]]).toEqual(['v: double', expected])
})

test('dialect=auto reads numbers of typesetters, and does not take words with such characters for numbers', async () => {
  const text = `v;w;x\n${MINUS}1${THIN}234,5;1’234.5;O’Neill\n12,5;${MINUS}7.5;Smith\n`
  const { shape } = await bench.read('csv', text.replace(`${MINUS}7.5`, '7'), {
    options: { dialect: 'auto' },
  })
  expect(shape).toEqual(['v: double', 'w: string', 'x: string'])
  const swiss = await bench.read('csv', 'w;x\n1’234.5;a\n7;b\n', { options: { dialect: 'auto' } })
  expect([swiss.shape[0], swiss.values[0]![0]]).toEqual(['w: double', '1234.5'])
})

test('a minus that is none is named where a number is due', async () => {
  expect(await bench.refusal('csv', `a,b\n${MINUS}5,x\n`, { declared: declared({ a: 'integer' }) })).toBe(
    `400 invalid_upload: Row 1, column "a": "${MINUS}5" is not an integer. Its minus is the character U+2212: send a hyphen, -. dialect=auto would read the file (decimal=.).`,
  )
})

test.each([
  '\n\n',
  '\r\n',
  '  \n \n',
])('a file of blank lines has neither a header nor rows: %j', async (text) => {
  const says = 'The file has blank lines only: its first line must be a header with the column names.'
  expect(await bench.refusal('csv', text)).toBe(`400 invalid_upload: ${says}`)
  expect(await bench.refusal('csv', text, { options: { dialect: 'auto' } })).toBe(
    `400 invalid_upload: ${says}`,
  )
})
