import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { frequencyName, inferFrequency, isDate, parsePeriod, periodOfDate } from '../../connectors/periods.ts'

describe('periods', () => {
  it.each([
    ['2024', '2024-01-01', '2024', 'annual'],
    ['1972-A1', '1972-01-01', '1972', 'annual'],
    ['2024-S2', '2024-07-01', '2024-S2', 'semiannual'],
    ['2024-H1', '2024-01-01', '2024-S1', 'semiannual'],
    ['2024S1', '2024-01-01', '2024-S1', 'semiannual'],
    ['2024-Q4', '2024-10-01', '2024-Q4', 'quarterly'],
    ['2024Q1', '2024-01-01', '2024-Q1', 'quarterly'],
    ['2024-T2', '2024-05-01', '2024-T2', 'four-monthly'],
    ['2024-B6', '2024-11-01', '2024-B6', 'bimonthly'],
    ['2024-01', '2024-01-01', '2024-01', 'monthly'],
    ['202001', '2020-01-01', '2020-01', 'monthly'],
    ['2020M01', '2020-01-01', '2020-01', 'monthly'],
    ['2020-M12', '2020-12-01', '2020-12', 'monthly'],
    ['2024-W05', '2024-01-29', '2024-W05', 'weekly'],
    ['2020-W53', '2020-12-28', '2020-W53', 'weekly'],
    ['2024-W01', '2024-01-01', '2024-W01', 'weekly'],
    ['2024-02-29', '2024-02-29', undefined, 'daily'],
    ['20240229', '2024-02-29', undefined, 'daily'],
    ['2024-D060', '2024-02-29', undefined, 'daily'],
    ['2024-02-29T00:00:00Z', '2024-02-29', undefined, 'daily'],
    ['2017-12-20 14:00', '2017-12-20', '2017-12-20T14:00', 'intraday'],
    ['2024-02-01T05', '2024-02-01', '2024-02-01T05:00', 'intraday'],
    ['2024-02-01T05-06', '2024-02-01', '2024-02-01T05:00-06:00', 'intraday'],
    ['2017-12-20T14:00:30+02:00', '2017-12-20', '2017-12-20T14:00:30+02:00', 'intraday'],
  ])('reads %s', (text, date, period, frequency) => {
    expect(parsePeriod(text)).toEqual(
      period === undefined ? { date, frequency } : { date, period, frequency },
    )
  })

  it.each([
    '',
    'n/a',
    '2024-13',
    '202413',
    '2024-Q5',
    '2024-W54',
    '2021-W53',
    '2024-00',
    '2023-02-29',
    '2024-D367',
    '24-01',
  ])('takes %j for no period', (text) => expect(parsePeriod(text)).toBeUndefined())

  it('dates a period by its first day, from whatever day of it the provider names', () => {
    expect(periodOfDate('2013-12-31', 'quarterly')).toEqual({
      date: '2013-10-01',
      period: '2013-Q4',
      frequency: 'quarterly',
    })
    expect(periodOfDate('2017-12-29', 'monthly').date).toBe('2017-12-01')
    expect(periodOfDate('2017-12-29', 'annual').date).toBe('2017-01-01')
    expect(periodOfDate('2024-01-05', 'weekly')).toEqual({
      date: '2024-01-05',
      period: '2024-W01',
      frequency: 'weekly',
    })
    expect(periodOfDate('2024-01-05', null)).toEqual({ date: '2024-01-05', frequency: 'daily' })
  })

  it('reads back the period of any date at any frequency', () => {
    const frequencies = ['annual', 'semiannual', 'quarterly', 'monthly'] as const
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        fc.constantFrom(...frequencies),
        (instant, frequency) => {
          const date = instant.toISOString().slice(0, 10)
          const period = periodOfDate(date, frequency)
          expect(period.date <= date).toBe(true)
          expect(parsePeriod(period.period!)).toEqual(period)
        },
      ),
    )
  })

  it('never throws, and gives real dates', () => {
    const texts = fc.oneof(fc.string(), fc.stringMatching(/^\d{4}-?[ABDHMQSTW]?\d{0,3}(-\d\d)?$/))
    fc.assert(
      fc.property(texts, (text) => {
        const period = parsePeriod(text)
        expect(period === undefined || isDate(period.date)).toBe(true)
      }),
    )
  })

  it('names frequencies', () => {
    const names = [
      'A',
      'Q',
      'M',
      'W',
      'D',
      'B',
      'H',
      'Annual',
      'Weekly, Ending Friday',
      'Biweekly',
      '15min',
      'Z',
      '',
    ]
    expect(names.map(frequencyName)).toEqual([
      'annual',
      'quarterly',
      'monthly',
      'weekly',
      'daily',
      'daily',
      'semiannual',
      'annual',
      'weekly',
      'biweekly',
      'intraday',
      null,
      null,
    ])
  })

  it('infers a frequency from dates', () => {
    expect(inferFrequency(['2026-03-12', '2026-03-13', '2026-03-16', '2026-03-17'])).toBe('daily')
    expect(inferFrequency(['2024-01-01', '2024-02-01', '2024-03-01'])).toBe('monthly')
    expect(inferFrequency(['2023-01-01', '2023-04-01', '2023-07-01'])).toBe('quarterly')
    expect(inferFrequency(['2024-01-01'])).toBeNull()
  })
})
