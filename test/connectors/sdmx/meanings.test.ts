import { describe, expect, it } from 'vitest'
import type { SeriesQuery } from '../../../connectors/index.ts'
import { failureOf, harness } from '../support/harness.ts'
import type { Reply } from '../support/upstream.ts'
import { csv, xml } from './messages.ts'

/** Data for every key, and no structures. */
async function read(slug: string, id: string, reply: Reply, query: SeriesQuery = {}) {
  await using at = await harness(slug, {
    '*': (hit) => (/\/data\//.test(hit.path) ? reply : { status: 404, body: '' }),
  })
  return await at.connectors.series(slug, id, query)
}

describe('a quarterly series of INSEE, whose code is T for trimestrielle', () => {
  const values = { '2023-Q1': 100, '2023-Q2': 101, '2023-Q3': 102, '2023-Q4': 104, '2024-Q1': 102.69 }
  const reply = xml(
    '<m:StructureSpecificData xmlns:m="m"><m:DataSet><Series IDBANK="1" FREQ="T" TITLE_EN="GDP">' +
      Object.entries(values)
        .map(([period, value]) => `<Obs TIME_PERIOD="${period}" OBS_VALUE="${value}" OBS_REV="1"/>`)
        .join('') +
      '</Series></m:DataSet></m:StructureSpecificData>',
  )
  const last = async (query: SeriesQuery) => {
    const { observations } = await read('insee', 'SERIES_BDM/1', reply, query)
    return Number(observations.at(-1)!.value!.toFixed(4))
  }

  it('is quarterly, and transformed by quarters', async () => {
    const series = await read('insee', 'SERIES_BDM/1', reply)
    expect(series).toMatchObject({ frequency: 'quarterly', notes: null })
    expect(series.observations[4]).toEqual({
      date: '2024-01-01',
      period: '2024-Q1',
      value: 102.69,
      status: 'revised',
    })
    expect(await last({ transform: 'yoy' })).toBe(2.69)
    expect(await last({ transform: 'change' })).toBe(-1.31)
    expect(await last({ transform: 'index:2023-11-15' })).toBe(98.7404)
    const { observations } = await read('insee', 'SERIES_BDM/1', reply, { frequency: 'quarterly' })
    expect(observations).toHaveLength(5)
  })
})

describe('a frequency that contradicts the periods', () => {
  const reply = csv('FREQ,TIME_PERIOD,OBS_VALUE\nM,2023-Q1,1\nM,2023-Q2,2\n')

  it('is told in the notes, and nothing that counts periods is calculated', async () => {
    const series = await read('oecd', 'OECD,DSD@DF,1.0/M', reply)
    const doubt = 'The frequency code M stands for monthly, but the periods are written as quarterly.'
    expect(series.notes).toBe(doubt)
    expect(series).not.toHaveProperty('frequencyDoubt')
    expect(series.observations.map(({ period }) => period)).toEqual(['2023-Q1', '2023-Q2'])
    for (const query of [{ transform: 'yoy' }, { transform: 'change' }, { frequency: 'annual' }]) {
      const failure = await failureOf(read('oecd', 'OECD,DSD@DF,1.0/M', reply, query))
      expect(failure).toMatchObject({ code: 'invalid_option', status: 400 })
      expect(failure.message).toContain(doubt)
    }
    expect(
      (await read('oecd', 'OECD,DSD@DF,1.0/M', reply, { transform: 'log' })).observations[0]!.value,
    ).toBe(0)
  })
})

describe('a status', () => {
  const statuses = async (slug: string, codes: readonly string[], column = 'OBS_STATUS') => {
    const rows = codes.map((code, index) => `A,X,${2000 + index},1,${code}`).join('\n')
    const reply = csv(`FREQ,AREA,TIME_PERIOD,OBS_VALUE,${column}\n${rows}\n`)
    const { observations } = await read(slug, slug === 'ilo' ? 'DF_X/A.X' : 'X/A.X', reply)
    return observations.map(({ status }) => status)
  }

  it("of the ILO is that of the ILO's own list", async () => {
    expect(await statuses('ilo', ['R', 'M', 'L', 'S', 'Z', 'N', 'X', 'A', 'P', ''])).toEqual([
      'real value',
      'model-based',
      'computed',
      'not significant',
      'non-official estimate',
      'not available',
      'not applicable',
      'adjusted',
      'provisional',
      undefined,
    ])
  })

  it("that is Eurostat's i is imputed", async () => {
    expect(await statuses('eurostat', ['i', 'ep', 's'], 'OBS_FLAG')).toEqual([
      'imputed',
      'estimated, provisional',
      "Eurostat's estimate",
    ])
  })

  it('follows the label in the same cell where it says something else than the letter', async () => {
    const codes = ['R: Rebased', 'P: Provisional value', 'A: Normal value']
    expect(await statuses('unicef', codes, 'OBS_STATUS: Status')).toEqual([
      'rebased',
      'provisional',
      undefined,
    ])
  })
})

describe('an answer about another series', () => {
  const wrong: readonly (readonly [string, string, Reply])[] = [
    ['bis', 'WS_CBPOL/M.CH', csv('FREQ,REF_AREA,TIME_PERIOD,OBS_VALUE\nM,US,2024-01,5\n')],
    [
      'ecb',
      'EXR/D.CHF.EUR.SP00.A',
      csv(
        'KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE\n' +
          'EXR.M.CHF.EUR.SP00.A,M,CHF,EUR,SP00,A,2024-01,0.93\n',
      ),
    ],
    [
      'insee',
      'SERIES_BDM/1',
      xml(
        '<m:StructureSpecificData xmlns:m="m"><m:DataSet><Series IDBANK="2" FREQ="M" TITLE_EN="T">' +
          '<Obs TIME_PERIOD="2024-01" OBS_VALUE="1"/></Series></m:DataSet></m:StructureSpecificData>',
      ),
    ],
    [
      // Its attributes are in another order than the parts of the key.
      'eurostat',
      'NAMA_10_GDP/A.CP_MEUR.B1GQ.BE',
      xml(
        '<m:StructureSpecificData xmlns:m="m"><m:DataSet><Series geo="LU" na_item="B1GQ" unit="CP_MEUR" freq="A">' +
          '<Obs TIME_PERIOD="2012" OBS_VALUE="46526.2"/></Series></m:DataSet></m:StructureSpecificData>',
      ),
    ],
  ]

  it.each(wrong)('of %s is not given as %s', async (slug, id, reply) => {
    const log: unknown[] = []
    await using at = await harness(
      slug,
      { '*': (hit) => (/\/data\//.test(hit.path) ? reply : { status: 404, body: '' }) },
      { log: (entry) => log.push(entry) },
    )
    expect(await failureOf(at.connectors.series(slug, id))).toMatchObject({
      code: 'series_not_found',
      status: 404,
    })
    expect(log).toMatchObject([
      { level: 'warn', cause: expect.stringContaining('instead of the one asked for') },
    ])
  })
})
