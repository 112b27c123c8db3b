import { sdmxConnector } from '../../sdmx/connector.ts'
import { flowText } from '../../sdmx/flow-reference.ts'
import { formatPattern } from '../../sdmx/keys.ts'
import { ANY, STRUCTURE_XML, structureRequest, structureRequests } from '../../sdmx/rest.ts'
import { allFlows } from '../../sdmx/tree/branches.ts'

const AGENCY = 'NB'
const STYLE = { versions: false }
/** A date before the first observation of any series. Without a start the service sends only the last observation. */
const BEGINNING = '1800-01-01'

/**
 * Values are scaled by `UNIT_MULT`. In exchange rates it is the number of units of the base currency, as a power of
 * ten: 149.21 with 2 is the price of 100 Danish kroner, so one costs 1.4921. Elsewhere it has the meaning of SDMX,
 * value x 10^n.
 */
export const norgesBank = sdmxConnector({
  info: {
    slug: 'norges-bank',
    name: 'Norges Bank',
    description: 'Exchange rates of the krone, interest rates and government bonds of Norway.',
    homepage: 'https://www.norges-bank.no/en/topics/statistics',
    tier: 'free',
    baseUrl: 'https://data.norges-bank.no/api',
    key: 'none',
    limits: { windows: [] },
  },
  agency: AGENCY,
  root: allFlows,
  frequencyFirst: true,
  units: ['UNIT_MEASURE', 'UNIT', 'QUOTE_CUR'],
  multiplier: ({ id }) => (id === 'EXR' ? 'divide' : 'multiply'),
  requests: {
    dataflows: () => ({ path: ['dataflow', AGENCY], headers: STRUCTURE_XML }),
    dataflow: (flow) => structureRequest('dataflow', flow, { references: 'descendants' }, STYLE),
    ...structureRequests(STYLE),
    data: (flow, key, { start, end }) => ({
      path: ['data', flowText(flow, AGENCY), formatPattern(key)],
      query: { startPeriod: start ?? BEGINNING, endPeriod: end, format: 'csvdata', locale: 'en' },
      headers: ANY,
    }),
    keys: (flow, key) => ({
      path: ['data', flowText(flow, AGENCY), formatPattern(key)],
      query: { lastNObservations: 1, format: 'sdmx-json', locale: 'en' },
      headers: ANY,
    }),
  },
})
