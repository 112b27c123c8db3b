import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openConnectors } from '../../connectors/index.ts'
import * as sdmxProviders from '../../connectors/providers/sdmx.ts'
import { buildApp } from '../../server/app.ts'
import { EarlyLog } from '../../server/logger.ts'
import { openServices } from '../../server/services.ts'
import { basic, type Platform, platform, ROOT_KEY } from '../server/platform.ts'
import { FAULTS, type Fault } from './support/faults.ts'
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
  scb: 'TAB6471/00.tot',
  ssb: '05810/0.999B.Personer',
  statfin: 'khi/statfin_khi_pxt_11xb.px/0.indeksipisteluku',
  statice: 'Efnahagur/VIS01000.px/CPI.index',
  'stat-ee': 'IA001',
  'stat-lv': 'IRS010m/IRS010m',
  surs: '0410811S.px/41000.2',
  bfs: 'px-x-1/px-x-1.px/8100',
}

const providers = openConnectors().list()
const SDMX = Object.values(sdmxProviders).map(({ info }) => info.slug)

function expectedOf({ status, keyed, sdmx, but }: Fault, slug: string, takesKey: boolean): number {
  const own = SDMX.includes(slug) ? sdmx : undefined
  return but?.[slug] ?? own ?? (takesKey ? keyed : undefined) ?? status
}

let at: Platform
beforeAll(async () => {
  at = await platform()
})
afterAll(() => at[Symbol.asyncDispose]())

/** The service over providers that all answer the same; `lines` are those of its log. */
async function service({ reply, slow }: Fault) {
  const upstream = await startUpstream({ '*': reply(KEY) })
  const told = new EarlyLog()
  const lines: string[] = []
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
    log: ({ level, provider, message, cause }) => told.line(level, message, { provider }, cause),
  })
  const { services, engine } = at
  const { config } = services
  const opened = await openServices({ config, engine, connectors, version: '1.2.3' })
  const app = buildApp(opened, { write: (line) => lines.push(line) })
  told.to(app.log)
  return {
    lines,
    host: new URL(upstream.url).host,
    get: (slug: string) =>
      app.inject({
        url: `/providers/${slug}/series/${encodeURIComponent(SERIES[slug]!)}?$format=json`,
        headers: { authorization: basic(ROOT_KEY) },
      }),
    async [Symbol.asyncDispose]() {
      await app.close()
      await opened.refresher.close()
      await connectors.close()
      await upstream.close()
    },
  }
}

it('every provider is in the table', () => {
  const slugs = providers.map(({ slug }) => slug)
  expect(slugs.filter((slug) => SERIES[slug] === undefined)).toEqual([])
  expect(slugs.length).toBeGreaterThanOrEqual(17)
  expect(FAULTS.length).toBeGreaterThanOrEqual(38)
})

describe.each(FAULTS)('$name', (fault) => {
  it('is told by every provider as what it is, with no key and no address in answer or log', async () => {
    await using over = await service(fault)
    const wrong: string[] = []
    const answers = await Promise.all(
      providers.map(async ({ slug, name, key }) => {
        const { statusCode, body, headers } = await over.get(slug)
        const expected = expectedOf(fault, slug, key !== 'none')
        if (statusCode !== expected) wrong.push(`${slug}: ${statusCode}, not ${expected}: ${body}`)
        if (!body.includes(name)) wrong.push(`${slug}: does not name the provider: ${body}`)
        return body + JSON.stringify(headers)
      }),
    )
    expect(wrong).toEqual([])
    const told = over.lines.filter((line) => line.includes('"request failed"'))
    expect(told.length > 0).toBe(fault.status >= 500)
    for (const text of [...answers, ...over.lines]) {
      expect(text.toLowerCase()).not.toContain('canary')
      expect(text).not.toContain(over.host)
      expect(text).not.toMatch(/https?:|10\.9\.8\.7/)
    }
  })
})
