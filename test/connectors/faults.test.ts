import { describe, expect, it } from 'vitest'
import { ConnectorError, type ConnectorEvent, openConnectors } from '../../connectors/index.ts'
import { FAULTS } from './support/faults.ts'
import { startUpstream } from './support/upstream.ts'

const KEY = 'canary-service-key+/='

/** A series of each provider, by an id that it understands. */
const SERIES: Readonly<Record<string, string>> = {
  fred: 'GNPCA',
  bls: 'CUUR0000SA0',
  worldbank: 'US/NY.GDP.MKTP.CD',
  ecb: 'EXR/M.USD.EUR.SP00.A',
  oecd: 'OECD.SDD.STES,DSD_STES@DF_CLI,/USA.M.LI',
  eurostat: 'PRC_HICP_MANR/M.RCH_A.CP00.DE',
  imf: 'IMF.STA,CPI/USA.CPI.CP01.IX.M',
  bis: 'WS_CBPOL/M.US',
  'norges-bank': 'EXR/B.USD.NOK.SP',
  ilo: 'DF_UNE_TUNE_SEX_AGE_NB/USA.A',
  dbnomics: 'BIS/cbpol/M.AU',
  'bank-of-canada': 'V39079',
  alphavantage: 'TIME_SERIES_DAILY/IBM',
  nasdaq: 'FSE/BMW_X',
  'us-treasury': 'v2/accounting/od/debt_to_penny/tot_pub_debt_out_amt',
  statcan: 'v41690973',
  frankfurter: 'EUR/USD',
  bundesbank: 'BBEX3/D.USD.EUR.BB.AC.000',
  insee: 'SERIES_BDM/001565198',
  abs: 'CPI/1.10001.10.50.Q',
  istat: '150_908/M.N',
  unicef: 'CME/AFG.CME_MRY0T4',
  undata: 'DF_UNDATA_COUNTRYDATA/A.001',
  eia: 'PET.RWTC.D',
  bea: 'NIPA/T10101/A191RL/Q',
  census: 'resconst/APERMITS.TOTAL.yes',
  sec: '320193/us-gaap/Revenues/USD',
}

/** Everything that an error or an event shows, its causes included. */
function shown(value: unknown): string {
  if (!(value instanceof Error)) return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return [value.name, value.message, ...Object.entries(value).map(String), shown(value.cause)].join(' ')
}

const providers = openConnectors().list()

it('every provider is in the table', () => {
  const slugs = providers.map(({ slug }) => slug)
  expect(slugs.filter((slug) => SERIES[slug] === undefined)).toEqual([])
  expect(slugs.length).toBeGreaterThanOrEqual(17)
  expect(FAULTS.length).toBeGreaterThanOrEqual(38)
})

describe.each(FAULTS)('$name', ({ reply, status, keyed, slow }) => {
  it('is told by every provider as what it is, without a key or an address', async () => {
    const upstream = await startUpstream({ '*': reply(KEY) })
    const events: ConnectorEvent[] = []
    const connectors = openConnectors({
      overrides: Object.fromEntries(
        providers.map(({ slug, key }) => [
          slug,
          {
            baseUrl: `${upstream.url}/canary-path`,
            limits: { windows: [], withKey: [] },
            ...(key !== 'none' && { key: KEY }),
          },
        ]),
      ),
      retry: { attempts: 1 },
      timeouts: slow ? { headersMs: 150, bodyMs: 150 } : {},
      maxAnswerBytes: 100_000,
      log: (event) => events.push(event),
    })
    const wrong: string[] = []
    const texts: string[] = []
    await Promise.all(
      providers.map(async ({ slug, name, key }) => {
        const expected = key === 'none' ? status : (keyed ?? status)
        const error = await connectors.series(slug, SERIES[slug]!).catch((thrown: unknown) => thrown)
        if (!(error instanceof ConnectorError)) {
          wrong.push(`${slug}: answered ${JSON.stringify(error)}`)
          return
        }
        texts.push(shown(error))
        if (!expected.includes(error.status))
          wrong.push(`${slug}: ${error.status} ${error.code}, not ${expected}`)
        if (!error.message.includes(name)) wrong.push(`${slug}: ${error.message}`)
        if (error.provider !== slug) wrong.push(`${slug}: is told as ${error.provider}`)
      }),
    )
    await connectors.close()
    await upstream.close()
    expect(wrong).toEqual([])
    for (const text of [...texts, ...events.map((event) => shown(event) + shown(event.cause))]) {
      expect(text.toLowerCase()).not.toContain('canary')
      expect(text).not.toMatch(/https?:|127\.0\.0\.1|10\.9\.8\.7/)
    }
  })
})
