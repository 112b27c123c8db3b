import type { Calendar, ConnectorContext, Days, Release } from '../connector.ts'
import { notUnderstood } from '../failures.ts'
import { isDate } from '../periods.ts'
import { openBody, record, text } from '../read.ts'
import { parseSeriesId } from '../sdmx/ids.ts'
import { ANY } from '../sdmx/rest.ts'
import { instantIn } from './calendar.ts'

const ZONE = 'Europe/Luxembourg'

interface Event {
  readonly release: Release
  /** The dataflows that change, in small letters. */
  readonly flows: readonly string[]
}

/** What the page https://ec.europa.eu/eurostat/news/release-calendar reads. */
export const eurostatCalendar: Calendar = {
  announced: async (days, context) => (await events(days, context)).map(({ release }) => release),
  async of(id, days, context) {
    const flow = parseSeriesId(id)?.flow.id.toLowerCase()
    const all = await events(days, context)
    return all.filter(({ flows }) => flow !== undefined && flows.includes(flow)).map(({ release }) => release)
  },
}

function events({ from, to }: Days, { cached }: ConnectorContext): Promise<readonly Event[]> {
  const request = {
    root: '../../o/calendars',
    path: ['eventsJson'],
    query: {
      theme: 0,
      category: 0,
      keywords: '',
      isEuroindicator: '',
      authorInclude: '',
      authorExclude: '',
      start: `${from}T00:00:00Z`,
      end: `${to}T23:59:59Z`,
      timeZone: ZONE,
    },
    headers: ANY,
  }
  return cached(request, (answer) => {
    const all = openBody(answer)
    if (!Array.isArray(all)) throw notUnderstood('the calendar is not a list')
    return all.flatMap((each) => eventOf(record(each)))
  })
}

/** Times are those of clocks in Luxembourg, although the texts end with a Z: `2026-08-19T11:00Z`. */
function eventOf(event: ReturnType<typeof record>): Event[] {
  const [date = '', time = ''] = (text(event['start']) ?? '').split(/[T ]/)
  const name = text(event['title'])
  if (!isDate(date) || name === null) return []
  const clock = /^\d\d:\d\d/.exec(time)?.[0] ?? '00:00'
  const codes = (text(event['datasetCodes']) ?? '').toLowerCase().split(',')
  return [
    {
      release: {
        name,
        date,
        time: clock === '00:00' ? null : instantIn(ZONE, date, clock),
        period: text(event['period']),
      },
      flows: codes.map((code) => code.trim()),
    },
  ]
}
