import type { Calendar, ConnectorContext, Release, UpstreamRequest } from '../connector.ts'
import { ConnectorError, invalid } from '../errors.ts'
import { notUnderstood } from '../failures.ts'
import { eventsOf } from './icalendar.ts'

/** The releases that change the series of a survey, by the two letters with which their ids begin. */
const RELEASES: Readonly<Record<string, string>> = {
  CU: 'Consumer Price Index',
  CW: 'Consumer Price Index',
  SU: 'Consumer Price Index',
  CE: 'Employment Situation',
  LN: 'Employment Situation',
  WP: 'Producer Price Index',
  PC: 'Producer Price Index',
  WD: 'Producer Price Index',
  JT: 'Job Openings and Labor Turnover Survey',
  EI: 'U.S. Import and Export Price Indexes',
  CI: 'Employment Cost Index',
  PR: 'Productivity and Costs',
}

const ZONES = Object.fromEntries(
  ['US-Eastern', 'US/Eastern', 'America/New_York'].map((name) => [name, 'America/New_York']),
)

/** https://www.bls.gov/schedule/news_release/: the site has other limits than the API. */
const REQUEST: UpstreamRequest = {
  host: 'www.bls.gov',
  root: '../../schedule/news_release',
  path: ['bls.ics'],
  headers: { accept: 'text/calendar, */*;q=0.5' },
  isFree: true,
}

export const blsCalendar: Calendar = {
  announced: (_days, context) => announced(context),
  async of(id, _days, context) {
    const survey = id.slice(0, 2).toUpperCase()
    const release = RELEASES[survey]
    if (release === undefined) {
      const known = Object.keys(RELEASES).join(', ')
      throw invalid(
        `Which release changes a series of BLS is known for those that begin with ${known}; fred has the release of every series.`,
        'bls',
      )
    }
    // Those of productivity are marked as preliminary or revised: `Productivity and Costs (P)`.
    return (await announced(context)).filter(({ name }) => name.replace(/ \([PR]\)$/, '') === release)
  },
}

/** https://www.bls.gov/bls/blsterms.htm: robots that name nobody who can be contacted are blocked. */
function announced({ cached }: ConnectorContext): Promise<readonly Release[]> {
  return cached(REQUEST, ({ status, text }) => {
    if (status === 403) {
      const sentence =
        'The site of BLS refuses programs that do not say who runs them. Set contact in the configuration of the service, ' +
        'as "Ada Lovelace ada@example.org", or use the calendar of fred.'
      throw new ConnectorError('provider_down', sentence)
    }
    if (status >= 400) throw notUnderstood(`status ${status} for the calendar`)
    return eventsOf(text, ZONES).map(({ summary, ...moment }) => ({
      name: summary,
      ...moment,
      period: null,
    }))
  })
}
