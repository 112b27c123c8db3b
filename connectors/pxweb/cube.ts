import { notUnderstood } from '../failures.ts'
import { parsePeriod } from '../periods.ts'
import { isRecord, type Json, type JsonRecord, list, number, record, records, text } from '../read.ts'

/** A variable of a table: its codes in their order, each with its label. */
export interface Variable {
  readonly id: string
  readonly name: string | null
  readonly codes: readonly string[]
  readonly labels: readonly (string | null)[]
}

/** A table as its metadata describe it. */
export interface Table {
  readonly title: string
  /** Those whose codes make up the key of a series, in the order of the table. */
  readonly variables: readonly Variable[]
  /** The variable of time, and after it one of the months or quarters of its years; empty if the table has neither. */
  readonly times: readonly Variable[]
}

/** The cells that a request selected, of all times. */
export interface Cube extends Table {
  /** The parts of a series' description that the answer contains. */
  readonly about: {
    readonly source: string | null
    readonly lastUpdated: string | null
    readonly notes: string | null
  }
  /** The units by code, where a variable says what is measured. */
  readonly units: JsonRecord
  /** By code, such as `SesOnly`. */
  readonly adjustments: JsonRecord
  /** All variables in the order of the cells, of which those of the last one are next to each other. */
  readonly order: readonly Variable[]
  valueAt(cell: number): Json | undefined
  statusAt(cell: number): Json | undefined
}

/** The answer of API v1 for a table: `{title, variables: [{code, text, values, valueTexts, time?}]}`. */
export function readVariables(body: JsonRecord): Table {
  const found = records(body['variables'])
  const variables = found.map((each): Variable => {
    const codes = list(each['values']).map((code) => text(code) ?? '')
    const labels = list(each['valueTexts'])
    return {
      id: text(each['code']) ?? '',
      name: text(each['text']),
      codes,
      labels: codes.map((_, at) => text(labels[at])),
    }
  })
  const time = found.find((each) => each['time'] === true)
  return tableOf(text(body['title']) ?? '', variables, text(time?.['code']))
}

/** The metadata of API v2, which are JSON-stat 2 without values. */
export function readMetadata(body: Json): Table {
  const { title, variables, times } = readCube(body)
  return { title, variables, times }
}

/** JSON-stat 2 (https://json-stat.org/full/), and 1, in which the dimensions have ids, sizes and roles. */
export function readCube(body: Json): Cube {
  const envelope = record(body)
  const root = isRecord(envelope['dataset']) ? envelope['dataset'] : envelope
  const dimension = record(root['dimension'])
  const ids = list(root['id'] ?? dimension['id']).map((id) => text(id) ?? '')
  if (ids.length === 0) throw notUnderstood('the dimensions are missing')
  const order = ids.map((id) => readDimension(id, record(dimension[id])))
  const role = record(root['role'] ?? dimension['role'])
  const metric = record(dimension[text(list(role['metric'])[0]) ?? ''])
  const { value, status } = root
  return {
    ...tableOf(text(root['label']) ?? '', order, text(list(role['time'])[0])),
    about: {
      source: text(root['source']),
      lastUpdated: text(root['updated']),
      notes:
        list(root['note'])
          .flatMap((note) => text(note) ?? [])
          .join(' ') || null,
    },
    units: record(record(metric['category'])['unit']),
    adjustments: record(record(metric['extension'])['adjustment']),
    order,
    valueAt: (cell) => itemAt(value, cell),
    statusAt: (cell) => itemAt(status, cell),
  }
}

function readDimension(id: string, dimension: JsonRecord): Variable {
  const category = record(dimension['category'])
  const labels = record(category['label'])
  const index = category['index'] ?? Object.fromEntries(Object.keys(labels).map((code, at) => [code, at]))
  const codes = Array.isArray(index)
    ? index.map((code) => text(code) ?? '')
    : Object.entries(record(index))
        .sort(([, left], [, right]) => (number(left) ?? 0) - (number(right) ?? 0))
        .map(([code]) => code)
  if (codes.length === 0) throw notUnderstood('a dimension has no categories')
  return { id, name: text(dimension['label']), codes, labels: codes.map((code) => text(labels[code])) }
}

/** All cells are in a list, or those that are not null are in an object by their numbers. */
function itemAt(items: Json | undefined, cell: number): Json | undefined {
  return Array.isArray(items) ? items[cell] : record(items)[cell]
}

/** Some offices don't say which variable is that of time: then it is the last one whose values are all periods. */
function tableOf(title: string, all: readonly Variable[], timeId: string | null): Table {
  const time = all.find(({ id }) => id === timeId) ?? all.findLast((each) => written(each).every(isPeriod))
  const isYears = time !== undefined && written(time).every((period) => /^\d{4}$/.test(period))
  const parts = isYears ? all.find((each) => each !== time && ofYear(each) !== undefined) : undefined
  const times = [time, parts].filter((each) => each !== undefined)
  return { title, variables: all.filter((each) => !times.includes(each)), times }
}

/** Codes of places may have four digits as well, but they are not all of these centuries. */
function isPeriod(text: string): boolean {
  const date = parsePeriod(text)?.date
  return date !== undefined && date > '1600' && date < '2200'
}

/** The periods of the variables of time, of which those of the last one are next to each other. */
export function periodsOf([time, parts]: readonly Variable[]): readonly string[] {
  const periods = time === undefined ? [] : written(time)
  if (parts === undefined) return periods
  return periods.flatMap((year) => (ofYear(parts) ?? []).map((part) => `${year}${part}`))
}

/**
 * The periods in a notation that `parsePeriod` reads: quarters and weeks have the letters of Nordic languages
 * (`2026K3`, `2026U35`, `2026V30`). Where codes are only positions in a list, the labels are the periods.
 */
function written({ codes, labels }: Variable): readonly string[] {
  const read = (period: string) =>
    period.replace(/^(\d{4})K(?=\d$)/, '$1Q').replace(/^(\d{4})[UV](?=\d)/, '$1W')
  const byCode = codes.map(read)
  if (byCode.every(isPeriod)) return byCode
  return labels.map((label, at) => {
    const period = read(label ?? '')
    return isPeriod(period) ? period : byCode[at]!
  })
}

const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
)
const QUARTERS = ['i', 'ii', 'iii', 'iv']

/** `M1` … or `Q1` … for each label, in tables of Estonia for example; undefined if it is anything else. */
function ofYear({ labels }: Variable): readonly string[] | undefined {
  const found = labels.map((label) => {
    const word = label?.toLowerCase() ?? ''
    const [, roman = '', digit] = /^(?:([iv]+)|([1-4])(?:st|nd|rd|th))\.? quarter$/.exec(word) ?? []
    const quarter = digit ?? QUARTERS.indexOf(roman) + 1
    if (MONTHS.includes(word)) return `M${MONTHS.indexOf(word) + 1}`
    return Number(quarter) > 0 ? `Q${quarter}` : undefined
  })
  return found.every((each) => each !== undefined) ? found : undefined
}
