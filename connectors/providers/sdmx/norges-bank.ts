import { sdmxConnector } from '../../sdmx/connector.ts'
import { restV1 } from '../../sdmx/rest-v1.ts'

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
    data: { format: 'csvdata', locale: 'en' },
    since: BEGINNING,
    keys: { lastNObservations: 1, format: 'sdmx-json', locale: 'en' },
  }),
})
