import type { Row } from '../../connector.ts'
import { parsePeriod } from '../../periods.ts'
import { isRecord, type JsonRecord, number, record, records, text } from '../../read.ts'

/** The content of an answer, whichever shape the answer has. */
export interface Points {
  readonly name?: string | null
  readonly unit?: string | null
  readonly interval?: string | null
  readonly lastUpdated?: string | null
  /** The field from which the values were taken. */
  readonly field?: string
  readonly rows: readonly Row[]
}

/** The usual fields; the first that an answer has is taken, else the one with the function's own name. */
const PREFERRED = ['adjusted close', 'close', 'price', 'exchange rate']

/**
 * Finds the data of an answer by their shape, not by the name of their field: `data` with date and value, an object by
 * times, or a single quote with its own time. undefined if there are none.
 */
export function pointsOf(body: JsonRecord, function_: string, field: string | undefined): Points | undefined {
  if (Array.isArray(body['data'])) return economic(body, records(body['data']))
  const sections = Object.entries(body).filter(([name, value]) => isRecord(value) && !/^meta/i.test(name))
  const meta = plainNames(record(Object.entries(body).find(([name]) => /^meta/i.test(name))?.[1]))
  for (const [, section] of sections) {
    const choose = (values: JsonRecord) => fieldOf(values, function_, field)
    const found = byTime(record(section), meta, choose) ?? quote(plainNames(record(section)), choose)
    if (found !== undefined) return found
  }
  return undefined
}

function economic(body: JsonRecord, rows: readonly JsonRecord[]): Points {
  return {
    name: text(body['name']),
    unit: text(body['unit']),
    interval: text(body['interval']),
    rows: rows.map((row) => ({ time: row['date'], value: row['value'] })),
  }
}

type Choose = (values: JsonRecord) => string | undefined

function byTime(section: JsonRecord, meta: JsonRecord, choose: Choose): Points | undefined {
  const times = Object.entries(section).filter(
    ([time, values]) => isRecord(values) && parsePeriod(time) !== undefined,
  )
  const first = times[0]
  if (first === undefined) return undefined
  const field = choose(plainNames(record(first[1])))
  if (field === undefined) return undefined
  return {
    interval: text(meta['interval']),
    lastUpdated: text(meta['last refreshed']),
    field,
    rows: times.map(([time, values]) => ({ time, value: plainNames(record(values))[field] })),
  }
}

function quote(values: JsonRecord, choose: Choose): Points | undefined {
  const time = text(values['latest trading day'] ?? values['last refreshed'])
  const field = choose(values)
  if (time === null || field === undefined) return undefined
  const value = text(values[field])
  const isPercent = value?.endsWith('%') ?? false
  return {
    unit: isPercent ? 'percent' : null,
    lastUpdated: text(values['last refreshed']),
    field,
    rows: [{ time, value: isPercent ? value!.slice(0, -1) : value }],
  }
}

function fieldOf(values: JsonRecord, function_: string, wanted: string | undefined): string | undefined {
  const names = Object.keys(values)
  if (wanted !== undefined) return names.find((name) => name === wanted.toLowerCase())
  const usual = [...PREFERRED, function_.toLowerCase()].find((name) => names.includes(name))
  return usual ?? names.find((name) => number(values[name]) !== null)
}

/**
 * Renames `4. close` and `1: Symbol` to `close` and `symbol`. Of `4a. close (CNY)` and `4b. close (USD)` it keeps the
 * first, which is in the currency that was asked for.
 */
function plainNames(values: JsonRecord): JsonRecord {
  const plain: Record<string, JsonRecord[string]> = {}
  for (const [name, value] of Object.entries(values)) {
    const short = name.replace(/^\d+[a-z]?[.:]\s*/, '').replace(/\s*\([A-Z]{3,}\)$/, '')
    plain[short.toLowerCase()] ??= value
  }
  return plain
}
