import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  date,
  decimal,
  double,
  int64,
  timestamp,
  unsigned,
} from '../../../engine/export/formats/text/digits.ts'

const memory = Buffer.alloc(128)
const view = new DataView(memory.buffer, memory.byteOffset, memory.length)
const written = (end: number) => memory.toString('latin1', 0, end)

const runs = { numRuns: 20_000 }

describe('doubles', () => {
  const textOf = (value: number) => written(double(view, 0, value))

  it('are the shortest text that reads back, as String gives it', () => {
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true })
    const decimals = fc
      .tuple(fc.integer(), fc.integer({ min: -12, max: 22 }))
      .map(([digits, scale]) => Number(`${digits}e${-scale}`))
    const near = fc.double({ min: -1e16, max: 1e16, noNaN: true })
    fc.assert(
      fc.property(fc.oneof(finite, decimals, near), (value) => {
        expect(textOf(value)).toBe(Object.is(value, -0) ? '-0' : String(value))
      }),
      runs,
    )
  })

  it.each([
    [0.1 + 0.2, '0.30000000000000004'],
    [9255702406559.63, '9255702406559.63'],
    [Number('35147414650044.0625'), '35147414650044.062'],
    [0.9999999999999999, '0.9999999999999999'],
    [2 ** 53 + 2, '9007199254740994'],
    [999999999999999.9, '999999999999999.9'],
    [1e21, '1e+21'],
    [5e-324, '5e-324'],
  ])('%d', (value, text) => {
    expect(textOf(value)).toBe(text)
  })
})

describe('integers', () => {
  it('have all digits of 64 bits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        const low = Number(BigInt.asIntN(32, value))
        expect(written(int64(view, 0, low, Number(value >> 32n)))).toBe(String(value))
      }),
      runs,
    )
  })

  it('are right around each power of ten', () => {
    for (let power = 1; power <= 1e15; power *= 10) {
      for (const n of [power - 1, power, power + 1]) expect(written(unsigned(view, 0, n))).toBe(String(n))
    }
  })
})

describe('decimals', () => {
  it('have all digits of 128 bits and of their scale', () => {
    const most = 10n ** 38n - 1n
    const value = fc.oneof(
      fc.bigInt({ min: -most, max: most }),
      fc.bigInt({ min: -(10n ** 16n), max: 10n ** 16n }),
    )
    fc.assert(
      fc.property(value, fc.integer({ min: 0, max: 38 }), (n, scale) => {
        const words = new Int32Array(new BigInt64Array([BigInt.asIntN(64, n), n >> 64n]).buffer)
        const digits = String(n < 0n ? -n : n).padStart(scale + 1, '0')
        const point = digits.length - scale
        const text = `${n < 0n ? '-' : ''}${digits.slice(0, point)}${scale > 0 ? '.' : ''}${digits.slice(point)}`
        expect(written(decimal(view, 0, words, 0, scale))).toBe(text)
      }),
      runs,
    )
  })
})

describe('dates', () => {
  // The calendar of JavaScript writes years past 9999 with a plus and six digits; ours has neither.
  const iso = (text: string) =>
    text.replace(/^([+-]?)(\d+)-/, (_, sign, year) => {
      const digits = String(Number(year)).padStart(4, '0')
      return `${sign === '-' ? '-' : ''}${digits}-`
    })

  it('are those of the proleptic Gregorian calendar', () => {
    fc.assert(
      fc.property(fc.integer({ min: -100_000_000, max: 100_000_000 }), (days) => {
        const text = new Date(days * 86_400_000).toISOString()
        expect(written(date(view, 0, days))).toBe(iso(text).slice(0, iso(text).indexOf('T')))
      }),
      runs,
    )
  })

  it('have the time to the microsecond, without zeros at the end', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -8_640_000_000_000_000_000n, max: 8_640_000_000_000_000_000n }),
        (micros) => {
          const milliseconds = Number((micros - (((micros % 1000n) + 1000n) % 1000n)) / 1000n)
          const rest = Number(((micros % 1000n) + 1000n) % 1000n)
          const text = iso(new Date(milliseconds).toISOString()).replace('Z', String(rest).padStart(3, '0'))
          const end = timestamp(view, 0, Number(BigInt.asIntN(32, micros)), Number(micros >> 32n), true)
          expect(written(end)).toBe(
            `${text.replace(/\.?0+$/, (zeros) => (zeros.startsWith('.') ? '' : zeros.replace(/0+/, '')))}Z`,
          )
        },
      ),
      runs,
    )
  })
})
