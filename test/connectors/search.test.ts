import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import type { ConnectorEvent } from '../../connectors/options.ts'
import { openSearchIndex, SearchIndex } from '../../connectors/search-index.ts'
import { dataflows, structureMessage, xml } from './sdmx/messages.ts'
import { harness } from './support/harness.ts'
import type { Routes } from './support/upstream.ts'

const PAGE = { limit: 10, offset: 0 }
const series = (series_id: string, name: string) => ({
  series_id,
  name,
  frequency: 'monthly',
  unit: null,
  start: null,
  end: null,
})

describe('the index', () => {
  const filled = async () => {
    const index = new SearchIndex(':memory:')
    await index.addSeries('fred', [
      series('UNRATE', 'Unemployment Rate'),
      series('UNRATENSA', 'Unemployment Rate, not seasonally adjusted'),
      series('GDP', 'Gross Domestic Product'),
    ])
    await index.addSeries('ilo', [series('DF_X/A', 'Taux de chômage: unemployment rate by sex')])
    await index.addCategories('ecb', [
      { path: 'flow/EXR', name: 'Exchange rates', description: 'Of the euro', series: true },
    ])
    return index
  }
  const ids = (index: SearchIndex, question: string, provider?: string) =>
    index.search(question, PAGE, provider).series.map(({ series_id }) => series_id)

  it('finds all words in any order, the last one as far as it is written, best first', async () => {
    const index = await filled()
    expect(ids(index, 'unemployment rate')).toEqual(['UNRATE', 'UNRATENSA', 'DF_X/A'])
    expect(ids(index, 'rate unemp')).toEqual(['UNRATE', 'DF_X/A', 'UNRATENSA'])
    expect(ids(index, 'chomage')).toEqual(['DF_X/A'])
    expect(ids(index, 'unemployment rate', 'ilo')).toEqual(['DF_X/A'])
    expect(ids(index, 'unratensa')).toEqual(['UNRATENSA'])
    expect(ids(index, 'nothing of the kind')).toEqual([])
  })

  it('takes an accent that is written as a character of its own for that of its letter', async () => {
    const index = new SearchIndex(':memory:')
    await index.addSeries('ecb', [series('CAFES', 'Prix des caf\u00e9s')])
    expect(ids(index, 'cafe\u0301s')).toEqual(['CAFES'])
    index.close()
  })

  it('stays within one provider, also behind others that were seen before and in another process', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'search-'))
    const file = join(folder, 'search.db')
    const first = new SearchIndex(file)
    const second = new SearchIndex(file)
    const named = (prefix: string) =>
      Array.from({ length: 40 }, (_, n) => series(`${prefix}${n}`, 'Same words'))
    await first.addSeries('bis', named('B'))
    await second.addSeries('ecb', named('E'))
    await first.addSeries('bis', named('C'))
    await second.addSeries('bis', named('D'))
    const all = { limit: 1000, offset: 0 }
    for (const index of [first, second]) {
      const of = (provider: string) =>
        new Set(index.search('same wor', all, provider).series.map(({ provider }) => provider))
      expect(index.search('same words', all, 'bis').total).toBe(120)
      expect(index.search('same words', all, 'ecb').total).toBe(40)
      expect([of('bis'), of('ecb'), of('fred')]).toEqual([new Set(['bis']), new Set(['ecb']), new Set()])
      expect(index.search('nothing same', all, 'bis').total).toBe(0)
    }
    first.close()
    second.close()
    rmSync(folder, { recursive: true })
  })

  it('of an earlier version is made anew', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'search-'))
    const file = join(folder, 'search.db')
    const old = new DatabaseSync(file)
    old.exec("CREATE TABLE entries (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO entries VALUES (1, 'x')")
    old.close()
    const index = new SearchIndex(file)
    await index.addSeries('fred', [series('GDP', 'Output')])
    expect(ids(index, 'output')).toEqual(['GDP'])
    index.close()
    rmSync(folder, { recursive: true })
  })

  it.each([
    ['is damaged', (file: string) => writeFileSync(file, 'no database')],
    ['has no place', (file: string) => mkdirSync(file)],
  ])('is empty where its file %s, and says so', async (_, spoil) => {
    const folder = mkdtempSync(join(tmpdir(), 'search-'))
    const file = join(folder, 'search.db')
    spoil(file)
    const told: ConnectorEvent[] = []
    const index = openSearchIndex(file, (event) => told.push(event))
    await index.addSeries('fred', [series('GDP', 'Output')])
    expect(ids(index, 'output')).toEqual(['GDP'])
    index.close()
    expect(told).toHaveLength(1)
    rmSync(folder, { recursive: true })
  })

  it.each([
    '"',
    '*',
    'a OR b',
    'name:',
    '^',
    "'; DROP TABLE entries",
    '()',
    '\u0000',
    '   ',
  ])('takes %j for words', async (question) => {
    const index = await filled()
    expect(index.search(question, PAGE).series).toEqual([])
  })

  it('finds categories as well, and has the newest name of everything', async () => {
    const index = await filled()
    expect(index.search('euro', PAGE).categories).toMatchObject([{ provider: 'ecb', path: 'flow/EXR' }])
    await index.addSeries('fred', [series('GDP', 'Output')])
    expect(ids(index, 'gross')).toEqual([])
    expect(ids(index, 'output')).toEqual(['GDP'])
  })

  it('is read as far as it compares its matches, and no further', async () => {
    const index = new SearchIndex(':memory:')
    const many = Array.from({ length: 2100 }, (_, n) => series(`S${n}`, `Rate of area ${n}`))
    await index.addSeries('bis', many)
    const read = (limit: number, offset: number) => index.search('rate', { limit, offset }).series.length
    expect([read(1000, 0), read(1000, 1000), read(100, 1900), read(0, 2000)]).toEqual([1000, 1000, 100, 0])
    expect(() => read(1, 2000)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
    expect(() => read(20, 1e9)).toThrow(/the first 2000 matches.*more words/)
  })

  it('is read page by page, with the number of all', async () => {
    const index = await filled()
    const page = index.search('unemployment', { limit: 1, offset: 1 })
    expect(page.total).toBe(3)
    expect(page.series).toHaveLength(1)
  })
})

describe('a search', () => {
  it("is the provider's own where it has one, and spends its limit", async () => {
    await using at = await harness(
      'fred',
      {
        '/series/search': (hit) => ({
          body: {
            count: 7,
            seriess: [
              { id: hit.query.get('search_text'), title: 'Found', frequency: 'Monthly', units: 'Percent' },
            ],
          },
        }),
      },
      { key: 'k', overrides: { fred: { limits: { windows: [{ requests: 5, perSeconds: 3600 }] } } } },
    )
    const found = await at.connectors.search('fred', 'GDP', PAGE)
    expect(found).toMatchObject({ total: 7, series: [{ series_id: 'GDP', name: 'Found', unit: 'Percent' }] })
    expect(at.connectors.limit('fred').remaining).toBe(4)
    await at.connectors.search('fred', 'GDP', PAGE)
    expect(at.upstream.requests).toHaveLength(1)
    // What was found is known from now on, without asking.
    expect(at.connectors.searchAll('found', PAGE).series).toMatchObject([
      { provider: 'fred', series_id: 'GDP' },
    ])
  })

  it.each([
    [
      'dbnomics',
      {
        '/search': { body: { results: { docs: [{ provider_code: 'IMF', code: 'CPI', name: 'Prices' }] } } },
        '/series/IMF/CPI': {
          body: { series: { docs: [{ series_code: 'M.US', series_name: 'Prices, US' }], num_found: 1 } },
        },
      },
      [{ series_id: 'IMF/CPI/M.US', name: 'Prices, US' }],
      [{ path: 'IMF/CPI', name: 'Prices' }],
    ],
    [
      'nasdaq',
      {
        '/datasets.json': {
          body: {
            datasets: [{ database_code: 'FSE', dataset_code: 'BMW_X', name: 'BMW' }],
            meta: { total_count: 1 },
          },
        },
      },
      [{ series_id: 'FSE/BMW_X', name: 'BMW' }],
      [],
    ],
    [
      'alphavantage',
      { '*': { body: { bestMatches: [{ '1. symbol': 'BA', '2. name': 'Boeing', '8. currency': 'USD' }] } } },
      [{ series_id: 'TIME_SERIES_DAILY/BA', name: 'Boeing', unit: 'USD' }],
      [],
    ],
  ])('asks %s, which has one', async (slug, routes: Routes, series, categories) => {
    await using at = await harness(slug, routes, { key: 'k' })
    expect(await at.connectors.search(slug, 'words', PAGE)).toMatchObject({ series, categories })
    expect(at.upstream.requests[0]!.url).toContain('words')
  })

  it('is over the dataflows where the provider has none, fetched once', async () => {
    const flows = dataflows(
      ['BIS', 'WS_CBPOL', 'Central bank policy rates'],
      ['BIS', 'WS_SPP', 'Property prices'],
    )
    await using at = await harness('bis', { '/structure/dataflow/BIS/*/+': xml(structureMessage(flows)) })
    const found = await at.connectors.search('bis', 'policy', PAGE)
    expect(found.categories).toMatchObject([{ path: 'flow/WS_CBPOL', name: 'Central bank policy rates' }])
    expect((await at.connectors.search('bis', 'property', PAGE)).categories).toHaveLength(1)
    expect(at.upstream.requests).toHaveLength(1)
    expect(at.connectors.searchAll('property', PAGE).categories).toMatchObject([{ provider: 'bis' }])
  })

  it('finds the indicators of the World Bank in its list', async () => {
    const rows = [
      { id: 'SL.UEM', name: 'Unemployment (% of labor force)' },
      { id: 'NY', name: 'GDP (current US$)' },
    ]
    await using at = await harness('worldbank', {
      '/indicator': { body: [{ page: 1, pages: 1, total: 2 }, rows] },
    })
    expect((await at.connectors.search('worldbank', 'unemploy', PAGE)).series).toMatchObject([
      { series_id: 'WLD/SL.UEM', unit: '% of labor force' },
    ])
  })

  it('knows what was browsed', async () => {
    await using at = await harness('frankfurter', { '*': { body: { EUR: 'Euro', USD: 'Dollar' } } })
    await at.connectors.seriesList('frankfurter', 'EUR', PAGE)
    await new Promise((resolve) => setImmediate(resolve))
    expect(at.connectors.searchAll('dollar', PAGE).series).toMatchObject([{ series_id: 'EUR/USD' }])
  })
})
