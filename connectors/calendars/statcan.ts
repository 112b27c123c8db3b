import type { Calendar } from '../connector.ts'
import { notUnderstood } from '../failures.ts'
import { isDate } from '../periods.ts'
import { openBody, record, text } from '../read.ts'
import { instantIn } from './calendar.ts'

/**
 * The schedule of the major indicators, which https://www150.statcan.gc.ca/n1/dai-quo/cal2-eng.htm shows. It names no
 * tables. Its times are placeholders: The Daily appears at 8:30 Eastern time.
 */
export const statcanCalendar: Calendar = {
  announced: (_days, { cached }) =>
    cached(
      { root: '../../../n1/dai-quo/ssi/homepage', path: ['schedule-key_indicators-eng.json'] },
      (answer) => {
        const all = openBody(answer)
        if (!Array.isArray(all)) throw notUnderstood('the schedule is not a list')
        return all.map(record).flatMap((release) => {
          const date = (text(release['date']) ?? '').slice(0, 10)
          const name = text(release['title'])
          if (!isDate(date) || name === null) return []
          const time = instantIn('America/Toronto', date, '08:30')
          return [{ name, date, time, period: text(release['description']) }]
        })
      },
    ),
}
