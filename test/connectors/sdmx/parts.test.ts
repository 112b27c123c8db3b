import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SeriesRange } from '../../../connectors/connector.ts'
import { completed } from '../../../connectors/observations.ts'
import type { DataSeries } from '../../../connectors/sdmx/data/message.ts'
import {
  flowText,
  formatPattern,
  isOpen,
  matches,
  parseFlow,
  parsePattern,
  parseSeriesId,
} from '../../../connectors/sdmx/ids.ts'
import { lastUpdatedOf, nameOf, namesFrom, unitOf } from '../../../connectors/sdmx/series/describe.ts'
import {
  frequencyOf,
  namedFrequency,
  periodRange,
  rowsOf,
} from '../../../connectors/sdmx/series/observations.ts'
import type { Scale, SdmxService } from '../../../connectors/sdmx/session.ts'

describe('keys', () => {
  it('have wildcards in the notation of either version', () => {
    expect(parsePattern('M.USD+GBP..SP00')).toEqual([['M'], ['USD', 'GBP'], [], ['SP00']])
    expect(parsePattern('M.*.*')).toEqual([['M'], [], []])
    expect(formatPattern(parsePattern('M.*.USD+GBP'))).toBe('M..USD+GBP')
    expect(formatPattern(parsePattern('..'))).toBe('all')
    expect([isOpen(parsePattern('*.*')), isOpen(parsePattern('*.A'))]).toEqual([true, false])
  })

  it('match what they name', () => {
    const pattern = parsePattern('M.USD+GBP.')
    expect(matches(['M', 'GBP', 'X'], pattern)).toBe(true)
    expect(matches(['M', 'JPY', 'X'], pattern)).toBe(false)
    expect(matches(['M', '', 'X'], pattern)).toBe(true)
  })
})

describe('ids', () => {
  it.each([
    ['EXR', { agency: '', id: 'EXR', version: '' }],
    ['ECB,EXR', { agency: 'ECB', id: 'EXR', version: '' }],
    ['ECB,EXR,1.0', { agency: 'ECB', id: 'EXR', version: '1.0' }],
    ['EXR,1.0', { agency: '', id: 'EXR', version: '1.0' }],
    ['OECD.SDD.STES,DSD_STES@DF_CLI,', { agency: 'OECD.SDD.STES', id: 'DSD_STES@DF_CLI', version: '' }],
    ['IMF.RES,WEO,+', { agency: 'IMF.RES', id: 'WEO', version: '' }],
    ['IMF.RES,WEO,latest', { agency: 'IMF.RES', id: 'WEO', version: '' }],
  ])('read the dataflow %s', (text, flow) => {
    expect(parseFlow(text)).toEqual(flow)
  })

  it('write a dataflow as short as it can be', () => {
    expect(flowText({ agency: 'ECB', id: 'EXR', version: '' }, 'ECB')).toBe('EXR')
    expect(flowText({ agency: 'ECB', id: 'EXR', version: '1.0' }, 'ECB')).toBe('ECB,EXR,1.0')
    expect(flowText({ agency: 'BIS.CBS', id: 'CBS', version: '' }, 'BIS')).toBe('BIS.CBS,CBS')
  })

  it('are nothing but dataflow and key', () => {
    expect(parseSeriesId('EXR/M.USD')).toMatchObject({ text: 'EXR/M.USD', key: [['M'], ['USD']] })
    for (const text of [
      '',
      '/',
      'EXR',
      'EXR/M/x',
      'a b/M',
      'EXR/M?x',
      'EXR/%2e%2e',
      'a,b,c,d/M',
      '..',
      '../M',
      'EXR/M\n',
    ]) {
      expect(parseSeriesId(text), text).toBeUndefined()
    }
  })

  it('hold no character that means something in an address', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        if (parseSeriesId(text)) expect(text).toMatch(/^[\w@$.,+*-]+\/[\w@$.+*-]*$/)
      }),
    )
  })
})

describe('ranges', () => {
  const range = { start: '2020-03-15', end: '2021-08-02' }
  it.each([
    ['A.X', '2020', '2021'],
    ['X.H', '2020', '2021'],
    ['Q.X', '2020-Q1', '2021-Q3'],
    ['X.M', '2020-03', '2021-08'],
    ['X.D', '2020-03-15', '2021-08-02'],
    ['X.M.A', '2020', '2021'],
    ['A+M.X', '2020-03-15', '2021-08-02'],
  ])('are asked of %s from %s to %s', (key, start, end) => {
    expect(periodRange(range, parsePattern(key))).toEqual({ start, end })
  })

  it('trust the first part of the key where it is the frequency', () => {
    expect(periodRange(range, parsePattern('M.USD.A'), true)).toEqual({ start: '2020-03', end: '2021-08' })
    expect(periodRange(range, parsePattern('B.USD.A'), true).start).toBe('2020-03-15')
    expect(periodRange({}, parsePattern('M.USD.A'), true)).toEqual({ start: undefined, end: undefined })
  })
})

describe('observations', () => {
  const raw = (period: string, value: unknown, multiplier?: string) => ({ period, value, multiplier })
  const NAMED = { multiplier: 'named', power: undefined } as const
  const observationsOf = (
    all: readonly ReturnType<typeof raw>[],
    range: SeriesRange,
    frequency: string,
    scale: Scale,
  ) => completed({ name: 'S', frequency, rows: rowsOf(all, frequency, scale) }, range, 'S').observations

  it('read every notation of a period, and a day in a monthly series as its month', () => {
    const periods = ['2024-02', '2024-03-31', '2024-M01', '2024-04-01/P1M', '2024-05-01T00:00:00']
    const found = observationsOf(
      periods.map((period) => raw(period, 1)),
      {},
      'monthly',
      NAMED,
    )
    expect(found.map(({ date, period }) => [date, period])).toEqual([
      ['2024-01-01', '2024-01'],
      ['2024-02-01', '2024-02'],
      ['2024-03-01', '2024-03'],
      ['2024-04-01', '2024-04'],
      ['2024-05-01', '2024-05'],
    ])
  })

  it('take whatever is no number for a missing value', () => {
    const values = ['1.5', ' -2e-3 ', 3, 'NaN', ':', '-', '', 'c', null, undefined, 'Infinity', Number.NaN]
    const found = observationsOf(
      values.map((value, i) => raw(`${2000 + i}`, value)),
      {},
      'annual',
      NAMED,
    )
    expect(found.map(({ value }) => value)).toEqual([1.5, -0.002, 3, ...Array(9).fill(null)])
  })

  it('scale digit for digit, by the multiplier of the observation before that of the series', () => {
    const scaled = (value: string, multiplier: 'divide' | 'multiply', power: string, own?: string) =>
      observationsOf([raw('2024', value, own)], {}, 'annual', { multiplier, power })[0]?.value
    expect(scaled('149.21', 'divide', '2')).toBe(1.4921)
    expect(scaled('0.1', 'multiply', '6')).toBe(100000)
    expect(scaled('1e21', 'multiply', '3')).toBe(1e24)
    expect(scaled('5', 'divide', '2', '0')).toBe(5)
    expect(scaled('5', 'divide', 'x')).toBe(5)
  })

  it('refuse two values for one period, and a period that is none', () => {
    const of =
      (...all: ReturnType<typeof raw>[]) =>
      () =>
        observationsOf(all, {}, 'annual', NAMED)
    expect(of(raw('2024', 1), raw('2024', 2))).toThrow(expect.objectContaining({ kind: 'unreadable' }))
    expect(of(raw('later', 1))).toThrow(expect.objectContaining({ kind: 'unreadable' }))
    expect(of(raw('2024', 1), raw('2024', null), raw('2024', 1))()).toHaveLength(1)
  })

  it('tell their frequency by their notation', () => {
    const of = (...periods: string[]) =>
      frequencyOf(
        periods.map((period) => raw(period, 1)),
        undefined,
      ).name
    expect([of('2024-Q1', '2024-Q2'), of('2024', '2024-Q1'), of(), of('2024-01-01', '2024-01-08')]).toEqual([
      'quarterly',
      null,
      null,
      'weekly',
    ])
  })
})

describe('frequencies', () => {
  const of = (provider: string, code: string, periods: readonly string[], label?: string) => {
    const attributes = new Map([['FREQ', code]])
    const observations = periods.map((period) => ({ period, value: 1, multiplier: undefined }))
    const labels = new Map(label === undefined ? [] : [['FREQ', new Map([[code, label]])]])
    const named = namedFrequency(
      { key: [], attributes, observations },
      namesFrom(labels, undefined),
      provider,
    )
    return frequencyOf(observations, named)
  }

  it.each([
    ['insee', 'T', ['2024-Q1', '2024-Q2'], 'quarterly'],
    ['insee', 'B', ['2024-B1', '2024-B2'], 'bimonthly'],
    ['insee', 'I', ['2024-01', '2024-05'], 'irregular'],
    ['ilo', 'B', ['2018', '2020'], 'biennial'],
    ['ilo', 'T', ['2018', '2021'], 'triennial'],
    ['eurostat', 'I', ['2018', '2021'], 'irregular'],
    ['ecb', 'T', ['2024-Q1', '2024-Q2'], 'quarterly'],
    ['ecb', 'T', ['2024-T1', '2024-T2'], 'four-monthly'],
    ['ecb', 'B', ['2024-01-05', '2024-01-08'], 'daily'],
    ['ecb', 'Q', ['2024-03', '2024-06'], 'quarterly'],
    ['ecb', 'M', [], 'monthly'],
  ])('of %s with the code %s and periods as %j are %s', (provider, code, periods, frequency) => {
    expect(of(provider, code, periods)).toEqual({ name: frequency })
  })

  // As the providers publish them.
  it.each([
    [
      'eurostat',
      {
        A: 'Annual',
        S: 'Half-yearly, semester',
        Q: 'Quarterly',
        M: 'Monthly',
        W: 'Weekly',
        B: 'Daily – business week',
        D: 'Daily',
        H: 'Hourly',
        I: 'Irregular',
        P: 'Pluri-annual',
      },
    ],
    [
      'ilo',
      {
        A: 'Annual',
        B: 'Every 2 years',
        T: 'Tri-annual',
        S: 'Semiannual',
        Q: 'Quarterly',
        M: 'Monthly',
        I: 'Irregular',
      },
    ],
    [
      'imf',
      { A: 'Annual', D: 'Daily', M: 'Monthly', Q: 'Quarterly', S: 'Half-yearly, semester', W: 'Weekly' },
    ],
    [
      'insee',
      {
        A: 'Annuelle',
        S: 'Semestrielle',
        T: 'Trimestrielle',
        B: 'Bimestrielle',
        M: 'Mensuelle',
        I: 'Irrégulière',
      },
    ],
    [
      'ecb',
      {
        A: 'Annual',
        B: 'Daily – businessweek',
        D: 'Daily',
        H: 'Half-yearly',
        M: 'Monthly',
        N: 'Minutely',
        Q: 'Quarterly',
        S: 'Half-yearly, semester',
        W: 'Weekly',
      },
    ],
  ])('are known for every code of the list of %s, by its label and without it', (provider, list) => {
    for (const [code, label] of Object.entries(list)) {
      const { name } = of(provider, code, [], label)
      expect(name, `${provider} ${code} ${label}`).not.toBeNull()
      if (code !== 'H' && code !== 'B') expect(of(provider, code, []).name).toBe(name)
    }
  })

  it('follow the label of a code before its letter', () => {
    expect(of('ecb', 'T', [], 'Trimestrielle')).toEqual({ name: 'quarterly' })
    expect(of('ecb', 'B', ['2018', '2020'], 'Every 2 years')).toEqual({ name: 'biennial' })
  })

  it('that contradict the notation of the periods come with a doubt', () => {
    const doubt = 'The frequency code M stands for monthly, but the periods are written as quarterly.'
    expect(of('ecb', 'M', ['2024-Q1', '2024-Q2'])).toEqual({ name: 'quarterly', doubt })
    expect(of('ecb', 'M', ['2024-Q1', '2024-Q2'], 'Monthly')).toEqual({ name: 'monthly', doubt })
    expect(of('ecb', 'Q', ['2024-01', '2024-02']).doubt).toContain('written as monthly')
  })
})

describe('descriptions', () => {
  const provider = {} as SdmxService
  const series = (attributes: Record<string, string>, key: string[] = []): DataSeries => ({
    key,
    attributes: new Map(Object.entries(attributes)),
    observations: [],
  })
  const names = namesFrom(new Map([['unit', new Map([['EUR', 'Euro']])]]), undefined)

  it('name the unit with its multiplier', () => {
    const unit = (attributes: Record<string, string>) => unitOf(series(attributes), names, provider, 'named')
    expect(unit({ UNIT: 'EUR' })).toBe('Euro')
    expect(unit({ UNIT: 'EUR', UNIT_MULT: '6' })).toBe('Euro, millions')
    expect(unit({ UNIT: 'EUR', UNIT_MULT: '-2' })).toBe('Euro, 10^-2')
    expect(unit({ UNIT_MULT: '3' })).toBe('thousands')
    expect(unit({ unit: 'PC', UNIT_MEASURE: '' })).toBe('PC')
    expect(unit({})).toBeNull()
    expect(unitOf(series({ UNIT: 'EUR', UNIT_MULT: '6' }), names, provider, 'multiply')).toBe('Euro')
  })

  it('read the frequency from the dimension, the attribute or its name', () => {
    const labels = new Map([['FREQUENCY', new Map([['1', 'Monthly']])]])
    const of = (attributes: Record<string, string>, known = names) => {
      const one = series(attributes)
      return frequencyOf(one.observations, namedFrequency(one, known, 'ecb')).name
    }
    expect(of({ freq: 'Q' })).toBe('quarterly')
    expect(of({ TIME_FORMAT: 'P1M' })).toBe('monthly')
    expect(of({ FREQUENCY: '1' }, namesFrom(labels, undefined))).toBe('monthly')
    expect(of({ FREQ: '?' })).toBeNull()
  })

  it('prefer a title, and leave out the frequency and what does not apply', () => {
    const one = series({ TITLE: 'Gold' }, ['A', 'B'])
    expect(nameOf(one, ['FREQ', 'X'], 'Flow', names)).toBe('Gold')
    const dimensions = ['FREQ', 'UNIT', 'X', 'Y']
    expect(nameOf(series({}, ['A', 'EUR', '_Z', 'B']), dimensions, 'Flow', names)).toBe('Flow: Euro, B')
    expect(nameOf(series({}, ['A']), ['FREQ'], 'Flow', names)).toBe('Flow')
  })

  it('write the date of the last update as ISO 8601', () => {
    const updated = (text: string) => lastUpdatedOf(series({ LAST_UPDATE: text }))
    expect(updated('10/11/22 23:00:00')).toBe('2022-11-10T23:00:00')
    expect(updated('10/11/2022')).toBe('2022-11-10')
    expect(updated('2025-11-19T21:00:00Z')).toBe('2025-11-19T21:00:00Z')
    expect(updated('yesterday')).toBeNull()
  })
})
