import { sdmxConnector } from '../../sdmx/connector.ts'
import { restV1 } from '../../sdmx/rest-v1.ts'

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
