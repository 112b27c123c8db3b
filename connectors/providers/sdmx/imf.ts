import { sdmxConnector } from '../../sdmx/connector.ts'
import { restV2 } from '../../sdmx/rest-v2.ts'
import { byAgency } from '../../sdmx/tree/branches.ts'

/**
 * Requests observations with all attributes. None of these scales the values: `SCALE` only says how to display a value
 * that is already in units.
 */
const DATA = { dimensionAtObservation: 'TIME_PERIOD', attributes: 'dsd', measures: 'all' }

/**
 * The REST API of SDMX 3.0. An unknown dataflow is answered with 204 or 404, a key without series with a data set
 * without `series`.
 */
export const imf = sdmxConnector({
  slug: 'imf',
  name: 'International Monetary Fund',
  description: 'World economic outlook, balance of payments, government finance, prices and commodities.',
  homepage: 'https://data.imf.org',
  baseUrl: 'https://api.imf.org/external/sdmx/3.0',
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
