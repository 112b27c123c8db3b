import type { Row } from '../../observations.ts'
import { parsePeriod } from '../../periods.ts'
import { isRecord, type JsonRecord, number, record, records, text } from '../../read.ts'

/** The content of an answer, whichever shape the answer has. */
export interface Points {
  readonly name: string | null
  readonly unit: string | null
  readonly interval: string | null
  readonly lastUpdated: string | null
  /** The field from which the values were taken. */
  readonly field: string | null
  readonly rows: readonly Row[]
}

/** The usual fields; the first that an answer has is taken. */
const PREFERRED = ['adjusted close', 'close', 'price', 'exchange rate']

/**
 * Finds the data of an answer by their shape, not by the name of their field: `data` with date and value, an object by
 * times, or a single quote with its own time. undefined if there are none.
 */
export function pointsOf(body: JsonRecord, field: string | undefined): Points | undefined {
  if (Array.isArray(body['data'])) return economic(body, records(body['data']))
  const sections = Object.entries(body).filter(([name, value]) => isRecord(value) && !/^meta/i.test(name))
  const meta = plainNames(record(Object.entries(body).find(([name]) => /^meta/i.test(name))?.[1]))
  for (const [, section] of sections) {
    const found = byTime(record(section), meta, field) ?? quote(plainNames(record(section)), field)
    if (found !== undefined) return found
  }
  return undefined
}

function economic(body: JsonRecord, rows: readonly JsonRecord[]): Points {
  return {
    name: text(body['name']),
    unit: text(body['unit']),
    interval: text(body['interval']),
    lastUpdated: null,
    field: null,
    rows: rows.map((row) => ({ time: row['date'], value: row['value'] })),
  }
}

function byTime(section: JsonRecord, meta: JsonRecord, wanted: string | undefined): Points | undefined {
  const times = Object.entries(section).filter(
    ([time, values]) => isRecord(values) && parsePeriod(time) !== undefined,
  )
  const first = times[0]
  if (first === undefined) return undefined
  const field = fieldOf(plainNames(record(first[1])), wanted)
  if (field === undefined) return undefined
  return {
    name: null,
    unit: null,
    interval: text(meta['interval']),
    lastUpdated: text(meta['last refreshed']),
    field,
    rows: times.map(([time, values]) => ({ time, value: plainNames(record(values))[field] })),
  }
}

function quote(values: JsonRecord, wanted: string | undefined): Points | undefined {
  const time = text(values['latest trading day'] ?? values['last refreshed'])
  const field = fieldOf(values, wanted)
  if (time === null || field === undefined) return undefined
  const value = text(values[field])
  const isPercent = value?.endsWith('%') ?? false
  return {
    name: null,
    unit: isPercent ? 'percent' : null,
    interval: null,
    lastUpdated: text(values['last refreshed']),
    field,
    rows: [{ time, value: isPercent ? value!.slice(0, -1) : value }],
  }
}

function fieldOf(values: JsonRecord, wanted: string | undefined): string | undefined {
  const names = Object.keys(values)
  if (wanted !== undefined) return names.find((name) => name === wanted.toLowerCase())
  return PREFERRED.find((name) => names.includes(name)) ?? names.find((name) => number(values[name]) !== null)
}

/**
 * Renames `4. close` and `1: Symbol` to `close` and `symbol`. Of `4a. close (CNY)` and `4b. close (USD)` it keeps the
 * first, which is in the currency that was asked for.
 */
function plainNames(values: JsonRecord): JsonRecord {
  const named = Object.entries(values).map(([name, value]) => {
    const plain = name.replace(/^\d+[a-z]?[.:]\s*/, '').replace(/\s*\([A-Z]{3,}\)$/, '')
    return [plain.toLowerCase(), value] as const
  })
  return Object.fromEntries(named.reverse())
}
