import { eurostatCalendar } from '../calendars/eurostat.ts'
import { type Connector, type ConnectorContext, providerInfo, type UpstreamRequest } from '../connector.ts'
import { editionsOf } from '../sdmx/editions.ts'
import type { Reference } from '../sdmx/ids.ts'
import { queued } from '../sdmx/queue.ts'
import { ANY, restV1, restV2, STRUCTURE_XML } from '../sdmx/rest.ts'
import { fetchMany, fetchSeries } from '../sdmx/series/series.ts'
import type { SdmxService, Session } from '../sdmx/session.ts'
import { readStructures } from '../sdmx/structures/structures.ts'
import { allFlows, byAgency, byCategory, tableOfContents } from '../sdmx/tree/branches.ts'
import { placeAt } from '../sdmx/tree/tree.ts'

/** A connector for a provider of the SDMX family. */
function sdmxConnector(service: SdmxService): Connector {
  const { slug, name, description, homepage, baseUrl, windows = [], key, queue, calendar } = service
  const { freeStructures: isFree = false, editions } = service
  const requests = service.rest(service.agency)
  const open = (context: ConnectorContext): Session => {
    const { cached } = context
    const structures = (request: UpstreamRequest) =>
      cached(isFree ? { ...request, isFree } : request, readStructures)
    const send = queue ? queued(context, queue) : context.send
    return { service, requests, send, cached, structures }
  }
  return {
    info: providerInfo({
      slug,
      name,
      description,
      homepage,
      baseUrl,
      limits: { windows },
      ...(key && { key: 'optional', keyPage: key.page }),
    }),
    ...(key && { common: (text) => (text === undefined ? {} : { headers: { [key.header]: text } }) }),
    history: [...(requests.history ? ['asOf' as const] : []), ...(editions ? ['vintages' as const] : [])],
    ...(calendar && { calendar }),
    at: (path, context) => placeAt(open(context), path),
    catalogue: async (context) => ({
      series: [],
      categories: (await allFlows('', open(context))) ?? [],
    }),
    series: (id, range, context) =>
      editions && range.vintages !== undefined
        ? editionsOf(open(context), editions, id, range)
        : fetchSeries(open(context), id, range),
    many: (id, range, context) => fetchMany(open(context), id, range),
  }
}

/** https://www.abs.gov.au/about/data-services/application-programming-interfaces-apis/data-api-user-guide */
export const abs = sdmxConnector({
  slug: 'abs',
  name: 'Australian Bureau of Statistics',
  description: 'Prices, labour, population and national accounts of Australia.',
  homepage: 'https://www.abs.gov.au',
  baseUrl: 'https://data.api.abs.gov.au/rest',
  agency: 'ABS',
  rest: restV1({
    data: { format: 'csvfilewithlabels' },
    flowOf: ({ agency, id, version }) => `${agency},${id},${version}`,
  }),
})

/** Version 2 of its API, which is the REST API of SDMX 3.0. */
export const bis = sdmxConnector({
  slug: 'bis',
  name: 'Bank for International Settlements',
  description: 'Policy rates, exchange rates, credit, property prices and international banking.',
  homepage: 'https://data.bis.org',
  baseUrl: 'https://stats.bis.org/api/v2',
  agency: 'BIS',
  root: byCategory,
  frequencyFirst: true,
  rest: restV2({
    structureHeaders: STRUCTURE_XML,
    references: 'children',
    categories: true,
    data: ({ start, end }) => ({ startPeriod: start, endPeriod: end, format: 'csv' }),
    // Requests the last observation of each series, because an answer without observations doesn't contain the names
    // of codes.
    keys: { lastNObservations: 1, format: 'jsondata' },
    available: { mode: 'available' },
    headers: ANY,
  }),
})

/**
 * https://www.bundesbank.de/en/statistics/time-series-databases/help-for-sdmx-web-service. The addresses of structures
 * begin with metadata/.
 */
export const bundesbank = sdmxConnector({
  slug: 'bundesbank',
  name: 'Deutsche Bundesbank',
  description: 'Exchange rates, interest rates, securities and banking statistics of Germany.',
  homepage: 'https://www.bundesbank.de/en/statistics/time-series-databases',
  baseUrl: 'https://api.statistiken.bundesbank.de/rest',
  agency: 'BBK',
  frequencyFirst: true,
  // BBK_UNIT is only DEM where the title says `100 ATS = ... DEM`, and BBK_UNIT_MULT is 0.
  unit: (code) => {
    const title = code('BBK_TITLE_ENG') || code('BBK_TITLE')
    const [, pieces, priced, currency] = /\b(1(?:[ .,]?0)*) ([A-Z]{3}) = \.+ ([A-Z]{3})\b/.exec(title) ?? []
    return pieces && `${currency} per ${pieces.replace(/\D/g, '')} ${priced}`
  },
  rest: restV1({ prefix: ['metadata'], flow: null, data: { format: 'sdmx_json', lang: 'en' } }),
})

/**
 * The service answers 406 to the media type of SDMX-CSV, so formats are requested by parameter. It doesn't page, and in
 * large dataflows it fails with 503 for a key that fixes few codes.
 */
export const ecb = sdmxConnector({
  slug: 'ecb',
  name: 'European Central Bank',
  description: 'Exchange rates, interest rates, money, banking and prices of the euro area.',
  homepage: 'https://data.ecb.europa.eu',
  baseUrl: 'https://data-api.ecb.europa.eu/service',
  agency: 'ECB',
  root: byCategory,
  frequencyFirst: true,
  rest: restV1({
    // The answer includes the constraint that says which codes have data.
    flow: { references: 'all' },
    categories: true,
    data: { format: 'csvdata' },
    // JSON is requested because it includes the names of the codes.
    keys: { detail: 'serieskeysonly', format: 'jsondata' },
    // https://data.ecb.europa.eu/help/api/data. CSV has no place for the time since when a value is valid.
    history: {
      query: { includeHistory: 'true' },
      headers: { accept: 'application/vnd.sdmx.genericdata+xml;version=2.1' },
    },
  }),
})

const REST = ['sdmx', '2.1']

/**
 * Trade in goods and production by product (`DS-…`) have a service of their own, with another root but the same
 * addresses below it.
 */
function rootOf({ id }: Reference): { readonly root?: string } {
  return /^DS-/i.test(id) ? { root: '../comext/dissemination' } : {}
}

/**
 * The format is a parameter, because the service refuses a media type of CSV. If the service finds an answer large, it
 * puts the request in a queue and sends a warning with status 200 or 413:
 * https://ec.europa.eu/eurostat/web/user-guides/data-browser/api-data-access/api-detailed-guidelines/asynchronous-api
 */
export const eurostat = sdmxConnector({
  slug: 'eurostat',
  name: 'Eurostat',
  description: 'Official statistics of the European Union, its regions and its neighbours.',
  homepage: 'https://ec.europa.eu/eurostat',
  baseUrl: 'https://ec.europa.eu/eurostat/api/dissemination',
  agency: 'ESTAT',
  calendar: eurostatCalendar,
  queue: {
    status: (id) => ({ path: ['1.0', 'async', 'status', id], headers: ANY }),
    data: (id) => ({ path: ['1.0', 'async', 'data', id], headers: ANY }),
  },
  root: tableOfContents({ path: ['catalogue', 'toc', 'txt'], query: { lang: 'en' }, headers: ANY }),
  frequencyFirst: true,
  rest: restV1({
    prefix: REST,
    dataPrefix: REST,
    versions: true,
    flows: { path: ['dataflow', 'ESTAT', 'all'], query: { detail: 'allstubs' } },
    flow: { references: 'descendants', detail: 'referencepartial' },
    flowOf: ({ id }) => id,
    rootOf,
    data: { format: 'SDMX-CSV' },
    keys: { format: 'SDMX-CSV', detail: 'serieskeysonly' },
  }),
})

/**
 * The service's CSV has a row for each observation and none for a key alone, so lists request the last observation of
 * each series.
 */
export const ilo = sdmxConnector({
  slug: 'ilo',
  name: 'International Labour Organization',
  description: 'Employment, unemployment, wages, working time and social protection (ILOSTAT).',
  homepage: 'https://ilostat.ilo.org',
  baseUrl: 'https://sdmx.ilo.org/rest',
  agency: 'ILO',
  rest: restV1({
    versions: true,
    flow: { references: 'all', detail: 'referencepartial' },
    flowOf: ({ agency, id, version }) => [agency, id, version].filter((part) => part !== '').join(','),
    headers: { accept: 'text/csv' },
    available: true,
  }),
})

/**
 * Requests observations with all attributes. None of these scales the values: `SCALE` only says how to display a value
 * that is already in units.
 */
const DATA = { dimensionAtObservation: 'TIME_PERIOD', attributes: 'dsd', measures: 'all' }

/**
 * The REST API of SDMX 3.0. An unknown dataflow is answered with 204 or 404, a key without series with a data set
 * without `series`. Its gateway answers 401 where it wants a key.
 */
export const imf = sdmxConnector({
  slug: 'imf',
  name: 'International Monetary Fund',
  description: 'World economic outlook, balance of payments, government finance, prices and commodities.',
  homepage: 'https://data.imf.org',
  baseUrl: 'https://api.imf.org/external/sdmx/3.0',
  key: { header: 'ocp-apim-subscription-key', page: 'https://portal.api.imf.org' },
  root: byAgency,
  // UNIT is that of the level, also for a percentage change of it (`PCH`, `POP_PCH_PA_PT`).
  unit: (code) => {
    const transformation = code('TRANSFORMATION') || code('TYPE_OF_TRANSFORMATION')
    return /(^|_)PCH(_|$)/.test(transformation) ? 'percent' : undefined
  },
  rest: restV2({
    structureHeaders: {
      accept: 'application/vnd.sdmx.structure+json;version=2.0.0, application/json;q=0.9',
    },
    references: 'descendants',
    // No range is sent: only some of the agencies support the filter for it; for others the answer would be incomplete
    // or empty.
    data: () => DATA,
    keys: { ...DATA, lastNObservations: 1 },
  }),
})

/** https://www.insee.fr/en/information/2868055. The service sends data only as SDMX-ML, with their history if asked. */
export const insee = sdmxConnector({
  slug: 'insee',
  name: 'INSEE',
  description:
    'Prices, production, employment and accounts of France; a series of SERIES_BDM goes by its idbank.',
  homepage: 'https://www.insee.fr',
  baseUrl: 'https://bdm.insee.fr/series/sdmx',
  agency: 'FR1',
  rest: restV1({ flow: null, history: { query: { includeHistory: 'true' } } }),
})

/**
 * https://esploradati.istat.it/databrowser. A client that sends more than five requests a minute is locked out for
 * days.
 */
export const istat = sdmxConnector({
  slug: 'istat',
  name: 'Istat',
  description: 'Prices, labour, production and population of Italy.',
  homepage: 'https://www.istat.it/en',
  baseUrl: 'https://esploradati.istat.it/SDMXWS/rest',
  windows: [{ requests: 5, perSeconds: 60 }],
  agency: 'IT1',
  rest: restV1({ data: { format: 'csv' } }),
})

/** A date before the first observation of any series. Without a start the service sends only the last observation. */
const BEGINNING = '1800-01-01'

/**
 * Values are scaled by `UNIT_MULT`. In exchange rates it is the number of units of the base currency, as a power of
 * ten: 149.21 with 2 is the price of 100 Danish kroner, so one costs 1.4921. Elsewhere it has the meaning of SDMX,
 * value x 10^n.
 */
export const norgesBank = sdmxConnector({
  slug: 'norges-bank',
  name: 'Norges Bank',
  description: 'Exchange rates of the krone, interest rates and government bonds of Norway.',
  homepage: 'https://www.norges-bank.no/en/topics/statistics',
  baseUrl: 'https://data.norges-bank.no/api',
  agency: 'NB',
  frequencyFirst: true,
  units: ['UNIT_MEASURE', 'UNIT', 'QUOTE_CUR'],
  multiplier: ({ id }) => (id === 'EXR' ? 'divide' : 'multiply'),
  rest: restV1({
    data: { format: 'csvdata', locale: 'en', startPeriod: BEGINNING },
    keys: { lastNObservations: 1, format: 'sdmx-json', locale: 'en' },
  }),
})

/** CSV is requested with labels, so that a series takes one request and not two. Sixty downloads of data are free an hour. */
export const oecd = sdmxConnector({
  slug: 'oecd',
  name: 'OECD',
  description: 'Economy, society and environment of the member countries of the OECD and of others.',
  homepage: 'https://data-explorer.oecd.org',
  baseUrl: 'https://sdmx.oecd.org/public/rest',
  windows: [{ requests: 60, perSeconds: 3600 }],
  freeStructures: true,
  editions: { flow: 'DSD_STES_REVISIONS@DF_STES_REVISIONS', dimension: 'EDITION' },
  root: byAgency,
  rest: restV1({
    versions: true,
    flows: { path: ['dataflow', 'all'], query: { detail: 'allstubs' } },
    flow: { references: 'all', detail: 'referencepartial' },
    // An empty version means the latest; the comma before it is still required.
    flowOf: ({ agency, id, version }) => `${agency},${id},${version}`,
    data: { format: 'csvfilewithlabels' },
    keys: { detail: 'serieskeysonly', format: 'jsondata' },
    available: true,
  }),
})

/** https://data.un.org/Host.aspx?Content=API. The service sends data as SDMX-ML. */
export const undata = sdmxConnector({
  slug: 'undata',
  name: 'UNdata',
  description:
    'Country data of the United Nations: national accounts, energy, the sustainable development goals.',
  homepage: 'https://data.un.org',
  baseUrl: 'https://data.un.org/WS/rest',
  agency: 'UNSD',
  rest: restV1({
    suffix: ['ALL'],
    flowOf: ({ agency, id, version }) => `${agency},${id},${version || '1.0'}`,
  }),
})

/** https://data.unicef.org/sdmx-api-documentation */
export const unicef = sdmxConnector({
  slug: 'unicef',
  name: 'UNICEF',
  description: 'Child mortality, health, nutrition, education and protection by country.',
  homepage: 'https://data.unicef.org',
  baseUrl: 'https://sdmx.data.unicef.org/ws/public/sdmxapi/rest',
  agency: 'UNICEF',
  rest: restV1({
    data: { format: 'csv', labels: 'both' },
    flowOf: ({ agency, id, version }) => `${agency},${id},${version || 'latest'}`,
  }),
})
