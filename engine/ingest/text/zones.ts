import { hint, invalidOption } from '../../errors.ts'
import { quoteLiteral } from '../../types/index.ts'
import type { ZoneOption } from './text-kinds.ts'

/** The name of a zone as it is usually written, or its offset as `+02:00`. @throws EngineError `invalid_option` */
export function zoneNamed(zone: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
  } catch {
    throw invalidOption(
      `${hint('zone')} must be a time zone such as Europe/Berlin, or an offset such as +02:00.`,
      'zone',
    )
  }
}

/** What our SQL raises for a time that a zone does not have once begins with this; the number of its target follows. */
const BAD_TIME = 'A time exists not once in its zone: column '

export const zoneError = (index: number): string => `error(${quoteLiteral(`${BAD_TIME}${index}.`)})`

/** The number of the target with such a time; NaN if the error is another one. */
export function badTimeIn(error: unknown): number {
  return Number.parseInt((error as Error).message.split(BAD_TIME)[1] ?? '', 10)
}

/** SQL for the times of a zone, which are timestamps without an offset. */
interface ZoneSql {
  /** The TIMESTAMP in UTC. */
  readonly utc: string
  /** Whether the zone's clocks show the time once. */
  readonly isOnce: string
  /** What is wrong if they do not, as text. */
  readonly fault: string
}

/**
 * SQL that converts a time of the zone of an upload.
 * @param time an SQL expression of type TIMESTAMP
 */
export function inZone({ zone = 'UTC' }: ZoneOption, time: string): ZoneSql {
  const name = zoneNamed(zone)
  const [, sign, hours, minutes] = /^([-+])(\d\d):(\d\d)$/.exec(name) ?? []
  if (sign !== undefined || name === 'UTC') {
    const offset = `INTERVAL ${Number(hours ?? 0) * 60 + Number(minutes ?? 0)} MINUTE`
    const utc = `(${time} ${sign === '-' ? '+' : '-'} ${offset})`
    return { utc, isOnce: isInCalendar(utc), fault: BEYOND }
  }
  // The zone has at most two offsets around a time: that of the day before, and that of the day after.
  const shown = (utc: string) => `timezone('${name}', CAST(${utc} AS TIMESTAMPTZ))`
  const withOffset = (near: string) => `(${time} - (${shown(near)} - ${near}))`
  const before = withOffset(`(${time} - INTERVAL 1 DAY)`)
  const after = withOffset(`(${time} + INTERVAL 1 DAY)`)
  const [isBefore, isAfter] = [before, after].map((utc) => `${shown(utc)} = ${time}`)
  const utc = `(CASE WHEN ${isBefore} THEN ${before} ELSE ${after} END)`
  const isOnce = `CASE WHEN ${isBefore} THEN ${before} = ${after} OR NOT (${isAfter}) ELSE ${isAfter} END`
  const [twice, never] = [`exists twice in ${name}, where clocks are put back`, `does not exist in ${name}`]
  const fault =
    `CASE WHEN ${isOnce} THEN ${BEYOND} WHEN ${isBefore} THEN ${quoteLiteral(twice)} ` +
    `ELSE ${quoteLiteral(never)} END`
  return { utc, isOnce: `(${isOnce} AND ${isInCalendar(utc)})`, fault }
}

const BEYOND = quoteLiteral('is beyond the years 1 to 9999 in UTC')

const isInCalendar = (utc: string) =>
  `${utc} BETWEEN TIMESTAMP '0001-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999999'`
