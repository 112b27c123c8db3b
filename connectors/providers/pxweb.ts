import { rate } from '../connector.ts'
import { v1, v2 } from '../pxweb/api.ts'
import { pxwebConnector } from '../pxweb/connector.ts'

/**
 * The offices that publish their tables with PxWeb. Their limits are those of `/config` of API v2 and of `?config` of v1;
 * for those that don't answer it, of https://github.com/rOpenGov/pxweb/blob/master/inst/extdata/api.json.
 */

/** https://www.scb.se/en/services/open-data-api */
export const scb = pxwebConnector({
  slug: 'scb',
  name: 'Statistics Sweden',
  description: 'Population, prices, labour, trade, production and national accounts of Sweden.',
  homepage: 'https://www.statistikdatabasen.scb.se/pxweb/en/ssd',
  baseUrl: 'https://statistikdatabasen.scb.se/api/v2',
  windows: [rate(3, 1)],
  cells: 150_000,
  api: v2,
  example: 'TAB6471/00.TotSA.TotSa.000007SF',
})

/** https://www.ssb.no/en/api/statbank-pxwebapi-user-guide */
export const ssb = pxwebConnector({
  slug: 'ssb',
  name: 'Statistics Norway',
  description: 'Population, prices, labour, trade, production and national accounts of Norway.',
  homepage: 'https://www.ssb.no/en/statbank',
  baseUrl: 'https://data.ssb.no/api/pxwebapi/v2',
  windows: [rate(30, 60)],
  cells: 800_000,
  api: v2,
  example: '05810/0.999B.Personer',
})

/** https://pxdata.stat.fi/api1.html */
export const statfin = pxwebConnector({
  slug: 'statfin',
  name: 'Statistics Finland',
  description: 'Population, prices, labour, trade, production and national accounts of Finland (StatFin).',
  homepage: 'https://pxdata.stat.fi/PXWeb/pxweb/en/StatFin',
  baseUrl: 'https://pxdata.stat.fi/PXWeb/api/v1/en/StatFin',
  windows: [rate(30, 10)],
  cells: 100_000,
  api: v1,
  example: 'khi/statfin_khi_pxt_11xb.px/0.indeksipisteluku',
})

/** https://hagstofa.is/utgafur/opid-gagnaadgengi */
export const statice = pxwebConnector({
  slug: 'statice',
  name: 'Statistics Iceland',
  description: 'Population, prices, labour, fisheries, trade and national accounts of Iceland.',
  homepage: 'https://px.hagstofa.is/pxen/pxweb/en',
  baseUrl: 'https://px.hagstofa.is/pxen/api/v1/en',
  windows: [rate(100, 10)],
  cells: 100_000,
  api: v1,
  example: 'Efnahagur/visitolur/1_vnv/1_vnv/VIS01000.px/CPI.index',
})

/** https://andmed.stat.ee/en/stat */
export const statEe = pxwebConnector({
  slug: 'stat-ee',
  name: 'Statistics Estonia',
  description: 'Population, prices, labour, trade, production and national accounts of Estonia.',
  homepage: 'https://andmed.stat.ee/en/stat',
  baseUrl: 'https://andmed.stat.ee/api/v1/en/stat',
  windows: [rate(100, 10)],
  cells: 100_000,
  api: v1,
  example: 'IA02/1',
})

/** https://stat.gov.lv/en/api-un-kodu-vardnicas/api-v2 */
export const statLv = pxwebConnector({
  slug: 'stat-lv',
  name: 'Central Statistical Bureau of Latvia',
  description: 'Population, prices, labour, trade, production and national accounts of Latvia.',
  homepage: 'https://data.stat.gov.lv/pxweb/en/OSP_PUB',
  baseUrl: 'https://api.stat.gov.lv/api/v2',
  windows: [rate(30, 10)],
  cells: 10_000,
  api: v2,
  example: 'IRS010m/IRS010m',
})

/** https://pxweb.stat.si/SiStat/en/Home/Help */
export const surs = pxwebConnector({
  slug: 'surs',
  name: 'Statistical Office of Slovenia',
  description: 'Population, prices, labour, trade, production and national accounts of Slovenia (SiStat).',
  homepage: 'https://pxweb.stat.si/SiStat/en',
  baseUrl: 'https://pxweb.stat.si/SiStatData/api/v1/en/Data',
  windows: [rate(100, 10)],
  cells: 100_000,
  api: v1,
  example: '0410811S.px/41000.2',
})

/** https://www.bfs.admin.ch/bfs/en/home/services/pxweb.html: each table is in a database of its own. */
export const bfs = pxwebConnector({
  slug: 'bfs',
  name: 'Swiss Federal Statistical Office',
  description: 'Population, prices, labour, tourism, production and education of Switzerland.',
  homepage: 'https://www.pxweb.bfs.admin.ch/pxweb/en',
  baseUrl: 'https://www.pxweb.bfs.admin.ch/api/v1/en',
  windows: [rate(10, 10)],
  cells: 5_000,
  api: v1,
  example: 'px-x-0102010000_101/px-x-0102010000_101.px/8100.1.-99999.-99999',
})
