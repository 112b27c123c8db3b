import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boundBytes } from '../../engine/iceberg/manifest.ts'
import { icebergName } from '../../engine/types/index.ts'

const hex = (...bound: Parameters<typeof boundBytes>) => {
  const bytes = boundBytes(...bound)
  return bytes && Buffer.from(bytes).toString('hex')
}

test('types are called as in the table spec', () => {
  expect(icebergName('integer')).toBe('long')
  expect(icebergName('json')).toBe('string')
  expect(icebergName('decimal(18,3)')).toBe('decimal(18,3)')
  expect(icebergName('timestamptz')).toBe('timestamptz')
})

test('bounds are the bytes of Appendix D', () => {
  expect(hex('boolean', 'true', 'lower')).toBe('01')
  expect(hex('boolean', 'false', 'lower')).toBe('00')
  expect(hex('integer', '258', 'lower')).toBe('0201000000000000')
  expect(hex('integer', '-1', 'lower')).toBe('ffffffffffffffff')
  expect(hex('double', '1', 'lower')).toBe('000000000000f03f')
  expect(hex('double', '-inf', 'lower')).toBe('000000000000f0ff')
  expect(hex('date', '19723', 'upper')).toBe('0b4d0000')
  expect(hex('date', '-1', 'upper')).toBe('ffffffff')
  expect(hex('time', '1', 'upper')).toBe('0100000000000000')
  expect(hex('timestamp', '-2', 'upper')).toBe('feffffffffffffff')
  expect(hex('string', 'é', 'upper')).toBe('c3a9')
})

test('a decimal takes as few bytes as hold it', () => {
  expect(hex('decimal(9,2)', '0', 'lower')).toBe('00')
  expect(hex('decimal(9,2)', '127', 'lower')).toBe('7f')
  expect(hex('decimal(9,2)', '128', 'lower')).toBe('0080')
  expect(hex('decimal(9,2)', '-128', 'lower')).toBe('80')
  expect(hex('decimal(9,2)', '-129', 'lower')).toBe('ff7f')
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }), (digits) => {
      const text = hex('decimal(38,0)', String(digits), 'lower')!
      expect(BigInt.asIntN(text.length * 4, BigInt(`0x${text}`))).toBe(digits)
    }),
  )
})

test('a bound of zero takes in both zeros, which readers order', () => {
  expect(hex('double', '0', 'lower')).toBe('0000000000000080')
  expect(hex('double', '-0', 'upper')).toBe('0000000000000000')
})

test('nothing is skipped by what is not known, or what readers compare in different ways', () => {
  expect(hex('integer', null, 'lower')).toBeUndefined()
  expect(hex('integer', String(2n ** 63n), 'upper')).toBeUndefined()
  expect(hex('date', String(2 ** 31), 'upper')).toBeUndefined()
  expect(hex('uuid', '00000000-0000-0000-0000-000000000000', 'lower')).toBeUndefined()
})
