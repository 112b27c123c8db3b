/** A code list as a provider publishes it, about frequencies or about statuses of observations. */
export interface PublishedList {
  readonly provider: string
  readonly kind: 'frequency' | 'status'
  /** Agency and name of the list. */
  readonly list: string
  /** Where the provider publishes it. */
  readonly source: string
  /** English names by code, as they were recorded; undefined for a list that only `published.ts` reads. */
  readonly recorded?: Readonly<Record<string, string>>
}

const CROSS_DOMAIN = {
  A: 'Normal value',
  B: 'Time series break',
  D: 'Definition differs',
  E: 'Estimated value',
  F: 'Forecast value',
  G: 'Experimental value',
  H: 'Missing value; holiday or weekend',
  I: 'Imputed value (CCSA definition)',
  J: 'Derogation',
  L: 'Missing value; data exist but were not collected',
  M: 'Missing value; data cannot exist',
  N: 'Not significant',
  P: 'Provisional value',
  Q: 'Missing value; suppressed',
  S: 'Strike and any special events',
  U: 'Low reliability',
  V: 'Unvalidated value',
}

export const PUBLISHED_LISTS: readonly PublishedList[] = [
  {
    provider: 'ecb',
    kind: 'frequency',
    list: 'ECB:CL_FREQ',
    source: 'https://data-api.ecb.europa.eu/service/codelist/ECB/CL_FREQ',
    recorded: {
      A: 'Annual',
      B: 'Business',
      D: 'Daily',
      E: 'Event (not supported)',
      H: 'Half-yearly',
      M: 'Monthly',
      N: 'Minutely',
      Q: 'Quarterly',
      S: 'Half Yearly, semester (value H exists but change to S in 2009, move from H to this new value to be agreed in ESCB context)',
      W: 'Weekly',
    },
  },
  {
    provider: 'ecb',
    kind: 'status',
    list: 'ECB:CL_OBS_STATUS',
    source: 'https://data-api.ecb.europa.eu/service/codelist/ECB/CL_OBS_STATUS',
    recorded: CROSS_DOMAIN,
  },
  {
    provider: 'eurostat',
    kind: 'frequency',
    list: 'ESTAT:FREQ',
    source: 'https://ec.europa.eu/eurostat/api/dissemination/sdmx/2.1/codelist/ESTAT/FREQ',
    recorded: {
      A: 'Annual',
      B: 'Daily – business week',
      D: 'Daily',
      H: 'Hourly',
      I: 'Irregular',
      M: 'Monthly',
      P: 'Pluri-annual',
      Q: 'Quarterly',
      S: 'Half-yearly, semester',
      W: 'Weekly',
    },
  },
  {
    provider: 'eurostat',
    kind: 'status',
    list: 'ESTAT:OBS_FLAG',
    source: 'https://ec.europa.eu/eurostat/api/dissemination/sdmx/2.1/codelist/ESTAT/OBS_FLAG',
    recorded: {
      b: 'break in series',
      c: 'confidential',
      e: 'estimated value',
      f: 'forecast',
      n: 'not significant',
      p: 'provisional value',
      r: 'revised value',
      s: 'eurostat estimate',
      u: 'extremely unreliable data',
    },
  },
  {
    provider: 'imf',
    kind: 'frequency',
    list: 'IMF:CL_FREQ',
    source: 'https://api.imf.org/external/sdmx/3.0/structure/codelist/IMF/CL_FREQ/+',
    recorded: {
      A: 'Annual',
      D: 'Daily',
      M: 'Monthly',
      Q: 'Quarterly',
      S: 'Half-yearly, semester',
      W: 'Weekly',
    },
  },
  {
    provider: 'imf',
    kind: 'status',
    list: 'IMF:CL_OBS_STATUS',
    source: 'https://api.imf.org/external/sdmx/3.0/structure/codelist/IMF/CL_OBS_STATUS/+',
    recorded: {
      ...CROSS_DOMAIN,
      B: 'Break',
      C: 'Confidential statistical information',
      G: 'Experimental data',
      I: 'Imputed value',
      J: 'Missing values; derogation',
      O: 'Missing value',
      S: 'Strike',
    },
  },
  {
    provider: 'insee',
    kind: 'frequency',
    list: 'FR1:CL_PERIODICITE',
    source: 'https://bdm.insee.fr/series/sdmx/codelist/FR1/CL_PERIODICITE',
    recorded: {
      A: 'Annual',
      B: 'Two-monthly',
      I: 'Irregular',
      M: 'Monthly',
      Q: 'Quarterly',
      S: 'Semi-annual',
      T: 'Quarterly',
    },
  },
  {
    provider: 'ilo',
    kind: 'frequency',
    list: 'ILO:CL_FREQ',
    source: 'https://sdmx.ilo.org/rest/codelist/ILO/CL_FREQ',
  },
  {
    provider: 'ilo',
    kind: 'status',
    list: 'ILO:CL_OBS_STATUS',
    source: 'https://sdmx.ilo.org/rest/codelist/ILO/CL_OBS_STATUS',
  },
  ...[
    'abs ABS https://data.api.abs.gov.au/rest',
    'istat IT1 https://esploradati.istat.it/SDMXWS/rest',
    'norges-bank NB https://data.norges-bank.no/api',
    'oecd SDMX https://sdmx.oecd.org/public/rest',
    'unicef SDMX https://sdmx.data.unicef.org/ws/public/sdmxapi/rest',
    'undata SDMX https://data.un.org/WS/rest',
  ].flatMap(crossDomain),
]

/** The two cross-domain lists of a provider that has them under their usual names. */
function crossDomain(line: string): PublishedList[] {
  const [provider = '', agency, root] = line.split(' ')
  const named = (kind: 'frequency' | 'status', name: string) => ({
    provider,
    kind,
    list: `${agency}:${name}`,
    source: `${root}/codelist/${agency}/${name}`,
  })
  return [named('frequency', 'CL_FREQ'), named('status', 'CL_OBS_STATUS')]
}
