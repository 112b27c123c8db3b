import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fieldReader } from '../../engine/ingest/csv/syntax.ts'
import type { UploadOptions } from '../../engine/ingest/request.ts'
import { kindOf } from '../../engine/ingest/text/text-kinds.ts'

const options: fc.Arbitrary<UploadOptions> = fc.record(
  {
    decimal: fc.constantFrom('.', ','),
    thousands: fc.constantFrom('.', ',', ' ', "'"),
    dates: fc.constantFrom(
      'D.M.YYYY',
      'YYYYMMDD',
      'YYYY-D-M',
      'D.MYYYY',
      'MMM D, YYYY',
      'M/D/YY',
      'YYYY年M月D日',
    ),
    booleans: fc.constantFrom(['t', 'f'], ['1', '0'], ['2024-01-01', '1.5']),
    nulls: fc.array(fc.constantFrom('NA', '-99', '0.0', '1.234', 'true', 'nan', '10:00'), { maxLength: 2 }),
    symbols: fc.array(fc.constantFrom('€', '%', '5', 'e', '-', ' '), { maxLength: 2 }),
  },
  { requiredKeys: [] },
)

const texts = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'0123456789.,+-eE:TZ/ '), minLength: 1, maxLength: 9 }),
  fc.tuple(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 0, max: 999 })).map(([a, b]) => `${a}.${b}`),
  fc.constantFrom(
    'NA',
    '-99',
    '0.0',
    '1.234',
    '0.123',
    '01.234',
    '1.234e5',
    'true',
    'nan',
    '10:00',
    '2024-01-02',
  ),
  fc.constantFrom('20240102', '2024-01-02T10:00', '2.12024', '1', '0', '1.5', '2024-01-01', '55', '1e5'),
)

test('values of kinds that a dialect does not read are as they stand', () => {
  fc.assert(
    fc.property(options, texts, (given, text) => {
      fc.pre(given.thousands === undefined || given.thousands !== (given.decimal ?? '.'))
      const reader = fieldReader(given)
      if (kindOf(text) & reader.kinds) return
      expect(reader.isMissing({ text, quoted: false })).toBe(false)
      expect(reader.isPointed(text)).toBe(false)
      expect(reader.value(text, false) ?? text).toBe(text)
    }),
    { numRuns: 5000 },
  )
})
