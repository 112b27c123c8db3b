import { expect, test } from 'vitest'
import { accepts, kindOf } from '../../engine/ingest/text/text-kinds.ts'
import type { ColumnType } from '../../engine/types/index.ts'
import { Random } from '../filter/support/random.ts'
import { declared, useBench } from './support/helper.ts'

const bench = useBench()
const random = new Random(11)
const digits = (most: number) => Array.from({ length: random.below(most) }, () => random.below(10)).join('')

/** A number as programs write one, and as none does: with signs, zeros, many digits and any exponent. */
function number(): string {
  const whole =
    random.pick(['', '-', '+']) + random.pick(['', '0', '00', '1']) + digits(random.pick([3, 12, 40]))
  const fraction = random.chance(0.6) ? `.${digits(random.pick([3, 12, 40]))}` : ''
  const exponent =
    random.pick(['e', 'E']) + random.pick(['', '-', '+']) + random.below(random.pick([3, 12, 40]))
  return whole + fraction + (random.chance(0.4) ? exponent : '')
}

/** The number that a text is, as a fraction. */
function fractionOf(text: string): readonly [bigint, bigint] {
  const [, sign, whole = '', fraction = '', exponent = '0'] = /^([-+]?)(\d*)\.?(\d*)(?:e(.+))?$/i.exec(text)!
  const value = BigInt(`${whole}${fraction}` || '0') * (sign === '-' ? -1n : 1n)
  const power = Number(exponent) - fraction.length
  return power >= 0 ? [value * 10n ** BigInt(power), 1n] : [value, 10n ** BigInt(-power)]
}

function isSame(one: string, other: string): boolean {
  const [a, b] = fractionOf(one)
  const [c, d] = fractionOf(other)
  return a * d === c * b
}

/** Numbers that a declared type accepts. */
function accepted(type: ColumnType, count: number): string[] {
  const found: string[] = []
  while (found.length < count) {
    const text = number()
    if (/\d/.test(text) && accepts(type, kindOf(text), true, () => text)) found.push(text)
  }
  return found
}

test.each([
  'integer',
  'decimal(5,2)',
  'decimal(18,0)',
  'decimal(20,20)',
  'decimal(38,0)',
  'decimal(38,30)',
  'decimal(38,38)',
] as const)('every number that %s accepts is stored as it is', async (type) => {
  const texts = accepted(type, 600)
  const { values } = await bench.read('csv', `a,b\n${texts.map((text) => `${text},x`).join('\n')}\n`, {
    declared: declared({ a: type }),
  })
  const others = texts.filter((text, row) => !isSame(text, String(values[row]![0])))
  expect(others).toEqual([])
})

test('every number that a double accepts is the nearest double', async () => {
  const texts = accepted('double', 2_000)
  const { values } = await bench.read('csv', `a,b\n${texts.map((text) => `${text},x`).join('\n')}\n`, {
    declared: declared({ a: 'double' }),
  })
  expect(values.map(([value]) => Number(value))).toEqual(texts.map(Number))
})
