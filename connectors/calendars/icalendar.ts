import { notUnderstood } from '../failures.ts'
import { isDate } from '../periods.ts'
import { instantIn } from './calendar.ts'

export interface CalendarEvent {
  readonly summary: string
  /** ISO, as the event gives it. */
  readonly date: string
  /** ISO 8601 in UTC; null if the event lasts a whole day. */
  readonly time: string | null
}

/**
 * The events of a calendar in the form of RFC 5545, without those that are cancelled. `zones` gives the IANA names of the
 * time zones that the calendar may use, by its own. Repeated events are not expanded.
 * @throws ConnectorError `not_understood`, also for a start in another zone, which could only be guessed
 */
export function eventsOf(calendar: string, zones: Readonly<Record<string, string>>): CalendarEvent[] {
  const text = calendar
    .trim()
    .replace(/\r\n?/g, '\n')
    .replace(/\n[ \t]/g, '')
  if (!/^BEGIN:VCALENDAR\n[\s\S]*\bEND:VCALENDAR$/.test(text)) throw notUnderstood('no iCalendar, or cut off')
  return [...text.matchAll(/^BEGIN:VEVENT$([\s\S]*?)^END:VEVENT$/gm)].flatMap(([, event = '']) => {
    if (property(event, 'STATUS')?.text === 'CANCELLED') return []
    const summary = property(event, 'SUMMARY')
    const start = property(event, 'DTSTART')
    if (!summary || !start) throw notUnderstood('an event without SUMMARY or DTSTART')
    return [{ summary: unescaped(summary.text), ...momentOf(start, zones) }]
  })
}

interface Value {
  /** Such as `;TZID=US-Eastern`. */
  readonly parameters: string
  readonly text: string
}

function property(event: string, name: string): Value | undefined {
  const line = new RegExp(`^${name}((?:;(?:"[^"\\n]*"|[^":\\n])*)?):(.*)$`, 'm')
  const [, parameters = '', text] = line.exec(event) ?? []
  return text === undefined ? undefined : { parameters, text: text.trim() }
}

function momentOf({ parameters, text }: Value, zones: Readonly<Record<string, string>>) {
  const [, year, month, day, hours, minutes, utc] =
    /^(\d{4})(\d\d)(\d\d)(?:T([01]\d|2[0-3])([0-5]\d)\d\d(Z?))?$/.exec(text) ?? []
  const date = `${year}-${month}-${day}`
  if (!isDate(date)) throw notUnderstood('a DTSTART that is no date')
  if (hours === undefined) return { date, time: null }
  const zone = utc ? 'UTC' : zones[/;TZID="?([^";]+)/.exec(parameters)?.[1] ?? '']
  if (zone === undefined) throw notUnderstood('a DTSTART in an unknown time zone')
  return { date, time: instantIn(zone, date, `${hours}:${minutes}`) }
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, character: string) => (/n/i.test(character) ? ' ' : character))
}
