import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { number } from '../../../connectors/read.ts'
import { readData } from '../../../connectors/sdmx/data/data.ts'
import type { DataMessage, Expected } from '../../../connectors/sdmx/data/message.ts'
import { parsePattern } from '../../../connectors/sdmx/ids.ts'
import { CSV_10, components, FORMATS, generic, key, obs, specific, value } from '../support/formats.ts'

const read = (text: string, expected: Partial<Expected> = {}) =>
  readData(
    { status: 200, headers: {}, text },
    { pattern: parsePattern('M..S'), dimensions: undefined, ...expected },
  )

/** What a message says, whatever the format: key, then period and value in the order of time. */
const said = ({ series }: DataMessage) =>
  Object.fromEntries(
    series.map(({ key, observations }) => [
      key.join('.'),
      observations
        .map(({ period, value }) => `${period}=${number((value ?? null) as never)}`)
        .sort()
        .join(' '),
    ]),
  )

const EXPECTED = { 'M.USD.S': '2024-01=1.5 2024-02=null 2024-03=1.25', 'M.GBP.S': '2024-01=0.85' }

describe('data messages', () => {
  it.each(Object.entries(FORMATS))('gives the same series from %s', (_, text) => {
    const dimensions = ['FREQ', 'CURRENCY', 'TYPE']
    expect(said(read(text, { dimensions }))).toEqual(EXPECTED)
    expect(said(read(text))).toEqual(EXPECTED)
  })

  it.each(Object.entries(FORMATS))('leaves out what was not asked for in %s', (_, text) => {
    const pattern = parsePattern('M.GBP.S')
    expect(said(read(text, { pattern, dimensions: ['FREQ', 'CURRENCY', 'TYPE'] }))).toEqual({
      'M.GBP.S': EXPECTED['M.GBP.S'],
    })
  })

  const reordered = (columns: readonly number[]) =>
    CSV_10.trim()
      .split('\n')
      .map((line) => columns.map((column) => line.split(',')[column]).join(','))
      .join('\n')

  it('reads columns by their names in any order', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6], { minLength: 7 }), (columns) => {
        const text = reordered(columns)
        expect(said(read(text, { dimensions: ['FREQ', 'CURRENCY', 'TYPE'] }))).toEqual(EXPECTED)
        // Without the structure by the codes that an exact key names.
        expect(said(read(text, { pattern: parsePattern('M.USD.S') }))).toEqual({
          'M.USD.S': EXPECTED['M.USD.S'],
        })
      }),
    )
  })

  it('is certain of dimensions where the message or the structure tells, and says so where codes had to', () => {
    expect(read(CSV_10).certain).toBe(true)
    expect(read(FORMATS['generic SDMX-ML']!).certain).toBe(true)
    expect(read(FORMATS['structure-specific SDMX-ML']!).certain).toBe(false)
    expect(read(reordered([0, 1, 3, 2, 4, 5, 6])).certain).toBe(false)
  })

  it('takes a column that the ECB was told to leave out for what was asked', () => {
    const text = 'CURRENCY,TIME_PERIOD,OBS_VALUE\nUSD,2024-01,1.5\nGBP,2024-01,0.85\n'
    const { series } = read(text, { pattern: parsePattern('M.USD.S') })
    expect(series).toHaveLength(1)
    expect(series[0]?.observations).toHaveLength(1)
  })

  it('reads a list of series keys, which has no observations', () => {
    const csv =
      'DATAFLOW,LAST UPDATE,FREQ,CURRENCY,TYPE\nX:R(1.0),10/11/22 23:00:00,M,USD,S\nX:R(1.0),10/11/22 23:00:00,M,GBP,S\n'
    expect(said(read(csv))).toEqual({ 'M.USD.S': '', 'M.GBP.S': '' })
    const xml = generic(`<g:Series><g:SeriesKey>${key('USD')}</g:SeriesKey></g:Series>`)
    expect(said(read(xml))).toEqual({ 'M.USD.S': '' })
  })

  it('finds no series in a header with one blank row, nor in a data set without series', () => {
    expect(read('FREQ,CURRENCY,TYPE,TIME_PERIOD,OBS_VALUE\n,,,,\n').series).toEqual([])
    expect(
      read(JSON.stringify({ data: { dataSets: [{ structure: 0 }], structures: [components()] } })).series,
    ).toEqual([])
    expect(read(generic('')).series).toEqual([])
    expect(read('').series).toEqual([])
  })
})

describe('attributes', () => {
  const of = (text: string) => Object.fromEntries(read(text).series[0]!.attributes)

  it('come from data set, group, series and observation in structure-specific ML', () => {
    const text = specific(
      `<Group xsi:type="G" CURRENCY="USD" UNIT="EUR"/><Group xsi:type="G" CURRENCY="GBP" UNIT="XXX"/>
       <Series FREQ="M" CURRENCY="USD" TYPE="S" TITLE="Dollar"><Obs TIME_PERIOD="2024-01" OBS_VALUE="1" UNIT_MULT="2"/></Series>`,
      'UPDATE_DATE="2024-05-01"',
    )
    expect(of(text)).toMatchObject({
      UNIT: 'EUR',
      TITLE: 'Dollar',
      UPDATE_DATE: '2024-05-01',
      UNIT_MULT: '2',
    })
    expect(of(text)).not.toHaveProperty('action')
    expect(read(text).series[0]?.observations[0]?.multiplier).toBe('2')
  })

  it('come from groups in generic ML', () => {
    const group = (currency: string, unit: string) =>
      `<g:Group type="G"><g:GroupKey>${value('CURRENCY', currency)}</g:GroupKey><g:Attributes>${value('UNIT', unit)}</g:Attributes></g:Group>`
    const text = generic(
      `${group('GBP', 'XXX')}${group('USD', 'EUR')}<g:Series><g:SeriesKey>${key('USD')}</g:SeriesKey><g:Attributes>${value('TITLE', 'Dollar')}</g:Attributes>${obs('2024-01', '1')}</g:Series>`,
    )
    expect(of(text)).toMatchObject({ UNIT: 'EUR', TITLE: 'Dollar' })
  })

  it('come from data set, dimension group, series and observation in JSON, as index or as text', () => {
    const text = JSON.stringify({
      data: {
        dataSets: [
          {
            attributes: [0],
            dimensionGroupAttributes: { ':0::': [null, 0], ':1::': [null, 1] },
            series: {
              '0:0:0': { attributes: [null, 'Dollar'], observations: { '0': ['1', null, 'free', 0] } },
            },
          },
        ],
        structures: [
          components({
            measures: { observation: [{ id: 'OBS_VALUE' }] },
            attributes: {
              dataSet: [{ id: 'SOURCE', values: [{ id: 'XB' }] }],
              dimensionGroup: [
                { id: 'NOTHING', values: [] },
                { id: 'UNIT', values: [{ id: 'EUR' }, { id: 'XXX' }] },
              ],
              series: [
                { id: 'NOTE', values: [] },
                { id: 'TITLE', values: [] },
              ],
              observation: [
                { id: 'A', values: [] },
                { id: 'B', values: [] },
                { id: 'C', values: [{ id: 'c' }] },
              ],
            },
          }),
        ],
      },
    })
    expect(of(text)).toMatchObject({ SOURCE: 'XB', UNIT: 'EUR', TITLE: 'Dollar', B: 'free', C: 'c' })
    expect(of(text)).not.toHaveProperty('A')
  })

  it('of groups go by the order in which dimensions are declared, keys by their position', () => {
    const { series, observation } = components().dimensions
    const text = JSON.stringify({
      data: {
        dataSets: [
          {
            dimensionGroupAttributes: { '::1:': [0], '::0:': [1] },
            series: { '0': { observations: { '0': [1.5] } }, '1': { observations: { '0': [0.85] } } },
          },
        ],
        structures: [
          components({
            dimensions: {
              dataSet: [series[0], series[2]],
              series: [series[1]],
              observation: observation.map(({ id, values }) => ({ id, roles: ['TIME_PERIOD'], values })),
            },
            attributes: { dimensionGroup: [{ id: 'UNIT', values: [{ id: 'XXX' }, { id: 'EUR' }] }] },
          }),
        ],
      },
    })
    expect(read(text, { pattern: undefined }).series.map(({ key }) => key.join('.'))).toEqual([
      'M.USD.S',
      'M.GBP.S',
    ])
    expect(of(text)).toMatchObject({ UNIT: 'EUR' })
  })

  it('are names where a value has no id, as free text in the JSON of the ECB', () => {
    const text = JSON.stringify({
      dataSets: [{ series: { '0:0:0': { attributes: [0], observations: { '0': [1.5] } } } }],
      structure: components({
        attributes: { series: [{ id: 'TITLE', values: [{ name: 'US dollar/Euro' }] }] },
      }),
    })
    expect(of(text)).toMatchObject({ TITLE: 'US dollar/Euro' })
  })

  it('keep the names that come with them', () => {
    const both = read(FORMATS['SDMX-CSV 1.0 with labels in the cells']!)
    const columns = read(FORMATS['SDMX-CSV 2.0 with labels in columns']!)
    const json = read(FORMATS['SDMX-JSON 1.0 below data']!)
    for (const { labels } of [both, columns, json])
      expect(labels.get('CURRENCY')?.get('USD')).toBe('US dollar')
    expect([both.name, columns.name]).toEqual(['Rates', 'Rates'])
  })
})
