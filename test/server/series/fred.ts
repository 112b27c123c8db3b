import type { Hit, Routes } from '../../connectors/support/upstream.ts'
import { type Platform, platform } from '../platform.ts'

/** The service's own key: it must be nowhere. */
export const CANARY = 'canary-key-0123456789'

const GNPCA = {
  id: 'GNPCA',
  title: 'Real Gross National Product',
  observation_start: '1929-01-01',
  observation_end: '1931-01-01',
  frequency: 'Annual',
  units: 'Billions of Dollars',
  last_updated: '2026-03-26 07:46:03-05',
}

const badKey = {
  status: 400,
  body: { error_code: 400, error_message: 'Bad Request. The value for variable api_key is not registered.' },
}

/** FRED as far as the tests need it. */
export const routes: Routes = {
  '/fred/category/children': (hit: Hit) =>
    hit.query.get('api_key') === 'wrong'
      ? badKey
      : hit.query.get('api_key') === 'unchecked-key-01'
        ? { status: 503, body: 'Down for maintenance' }
        : {
            body: {
              categories:
                hit.query.get('category_id') === '0' ? [{ id: 13, name: 'Trade', notes: 'All' }] : [],
            },
          },
  '/fred/category/series': (hit: Hit) => ({
    body: {
      count: 1500,
      seriess: Array.from({ length: Number(hit.query.get('limit')) }, (_, i) => ({
        ...GNPCA,
        id: `S${Number(hit.query.get('offset')) + i}`,
      })),
    },
  }),
  '/fred/series': (hit: Hit) =>
    hit.query.get('series_id') === 'GNPCA'
      ? { body: { seriess: [GNPCA] } }
      : { status: 400, body: { error_code: 400, error_message: 'Bad Request. The series does not exist.' } },
  '/fred/series/observations': {
    body: {
      count: 3,
      observations: [
        { date: '1929-01-01', value: '1065.9' },
        { date: '1930-01-01', value: '.' },
        { date: '1931-01-01', value: '-0.5' },
      ],
    },
  },
}

/** A service that asks this FRED, with a key of its own and a limit that no test reaches. */
export function fredPlatform(): Promise<Platform> {
  return platform({
    routes,
    config: {
      providers: {
        fred: { key: CANARY, limits: { windows: [{ requests: 500, perSeconds: 60 }] } },
        alphavantage: { key: CANARY },
      },
    },
  })
}
