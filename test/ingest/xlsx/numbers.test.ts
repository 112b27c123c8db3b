import { expect, test } from 'vitest'
import { numberFormat } from '../../../engine/ingest/xlsx/book.ts'
import { serialMoment } from '../../../engine/ingest/xlsx/sheet.ts'

test.each([
  ['General', 'number'],
  ['0.00', 'number'],
  ['#,##0 "days"', 'number'],
  ['[Red]0.0', 'number'],
  ['0.0%', 'percent'],
  ['0.0"%"', 'number'],
  ['[h]:mm', 'duration'],
  ['[Red][mm]:ss.0;@', 'duration'],
  ['0.0"[h]"', 'number'],
  ['yyyy-mm-dd', 'date'],
  ['d. mmm', 'date'],
  ['mmm', 'date'],
  ['[$-409]m/d/yy h:mm AM/PM;@', 'timestamp'],
  ['yyyy-mm-dd hh:mm:ss"Z"', 'zoned'],
  ['h:mm', 'time'],
  ['mm:ss.0', 'time'],
])('the number format %s shows a %s', (code, style) => {
  const { style: shown, unit } = numberFormat(code)
  expect(unit === '%' ? 'percent' : shown).toBe(style)
})

test.each([
  ['43890', 'date', '2020-02-29'],
  ['43890.5', 'date', '2020-02-29T12:00:00'],
  ['43890', 'timestamp', '2020-02-29T00:00:00'],
  ['1', 'date', '1900-01-01'],
  ['59', 'date', '1900-02-28'],
  ['60', 'date', undefined],
  ['61', 'date', '1900-03-01'],
  ['2958465', 'date', '9999-12-31'],
  ['2958466', 'date', undefined],
  ['-1', 'date', undefined],
  ['0.25', 'time', '06:00:00'],
  // 15 digits, as many programs write: some microseconds beside 10:00:00.
  ['45000.4166666667', 'timestamp', '2023-03-15T10:00:00'],
  ['45000.000000005', 'timestamp', '2023-03-15T00:00:00.000432'],
  ['2958465.9999999884', 'timestamp', '9999-12-31T23:59:59.999'],
  ['0.99999999998843', 'time', '23:59:59.999999'],
  ['45000.999999999999', 'timestamp', '2023-03-16T00:00:00'],
  // As openpyxl and XlsxWriter write a second of the year 9242.
  ['2681968.058055555', 'timestamp', '9242-12-22T01:23:36'],
  // The same, where the sixteenth digit is a zero, which is not written.
  ['2958339.2851561', 'timestamp', '9999-08-27T06:50:37.487'],
  ['2958421.31369213', 'timestamp', '9999-11-17T07:31:43'],
  // Nearer to a whole second than its digits tell, but rounded to the microsecond before.
  ['12785.10100418982', 'timestamp', '1935-01-01T02:25:26.762'],
  ['45000.41666667824', 'timestamp', '2023-03-15T10:00:00.001'],
] as const)('the number %s as %s is %s', (digits, style, text) => {
  expect(serialMoment(digits, style, false)?.text).toBe(text)
})

test('days from 1904', () => {
  expect(serialMoment('0', 'date', true)?.text).toBe('1904-01-01')
  expect(serialMoment('42428', 'date', true)?.text).toBe('2020-02-29')
})
