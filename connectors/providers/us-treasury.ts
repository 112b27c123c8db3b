import type { Connector, ConnectorContext, Row, SeriesInfo, UpstreamAnswer } from '../connector.ts'
import { category, listed, providerInfo } from '../connector.ts'
import { absent, malformed, notUnderstood } from '../failures.ts'
import { allPages } from '../paging.ts'
import { inferFrequency, periodOfDate } from '../periods.ts'
import { type JsonRecord, number, openBody, record, records, text } from '../read.ts'

/** A table of the Fiscal Service. Its API has no catalogue of tables. */
interface Table {
  readonly path: string
  readonly name: string
  readonly description: string
  readonly frequency: string
  /** The fields with values, and their names. */
  readonly fields: Readonly<Record<string, string>>
  /** Columns that distinguish the rows of one date. */
  readonly by: readonly string[]
  /**
   * Set if the table changed: from then on the values of the field `from` are in the field `to`, in rows whose group
   * matches `where`.
   */
  readonly moved?: { readonly from: string; readonly to: string; readonly where: RegExp }
}

/** https://fiscaldata.treasury.gov/datasets/ */
const tables: readonly Table[] = [
  {
    path: 'v2/accounting/od/debt_to_penny',
    name: 'Debt to the Penny',
    description: 'The public debt outstanding on each business day',
    frequency: 'daily',
    fields: {
      tot_pub_debt_out_amt: 'Total Public Debt Outstanding',
      debt_held_public_amt: 'Debt Held by the Public',
      intragov_hold_amt: 'Intragovernmental Holdings',
    },
    by: [],
  },
  {
    path: 'v2/accounting/od/debt_outstanding',
    name: 'Historical Debt Outstanding',
    description: 'The public debt outstanding at the end of each fiscal year since 1790',
    frequency: 'annual',
    fields: { debt_outstanding_amt: 'Debt Outstanding Amount' },
    by: [],
  },
  {
    path: 'v2/accounting/od/avg_interest_rates',
    name: 'Average Interest Rates on U.S. Treasury Securities',
    description: 'By type of security, at the end of each month',
    frequency: 'monthly',
    fields: { avg_interest_rate_amt: 'Average Interest Rate' },
    by: ['security_type_desc', 'security_desc'],
  },
  {
    path: 'v1/accounting/od/rates_of_exchange',
    name: 'Treasury Reporting Rates of Exchange',
    description: 'By currency, at the end of each quarter',
    frequency: 'quarterly',
    fields: { exchange_rate: 'Exchange Rate' },
    by: ['country_currency_desc'],
  },
  {
    path: 'v1/accounting/dts/operating_cash_balance',
    name: 'Operating Cash Balance',
    description: "The Treasury's daily cash balance, by account",
    frequency: 'daily',
    fields: { open_today_bal: 'Opening Balance Today', close_today_bal: 'Closing Balance Today' },
    by: ['account_type'],
    // Since 18 April 2022 the closing balance is a type of account, and its value is in the column of the opening
    // balance.
    moved: { from: 'close_today_bal', to: 'open_today_bal', where: /closing balance/i },
  },
  {
    path: 'v1/debt/mspd/mspd_table_1',
    name: 'Summary of Treasury Securities Outstanding',
    description: 'By class of security, at the end of each month',
    frequency: 'monthly',
    fields: {
      total_mil_amt: 'Total Public Debt Outstanding (in Millions)',
      debt_held_public_mil_amt: 'Debt Held by the Public (in Millions)',
      intragov_hold_mil_amt: 'Intragovernmental Holdings (in Millions)',
    },
    by: ['security_type_desc', 'security_class_desc'],
  },
  {
    path: 'v2/accounting/od/gold_reserve',
    name: 'U.S. Treasury-Owned Gold',
    description: 'By facility and form, at the end of each month',
    frequency: 'monthly',
    fields: { fine_troy_ounce_qty: 'Fine Troy Ounces', book_value_amt: 'Book Value' },
    by: ['facility_desc', 'form_desc', 'location_desc'],
  },
]

const ROOT = tables.map(({ path, name, description }) => category(path, name, description))

/** The largest page; the service refuses more with a 400. */
const PAGE = 10_000

const SEVERAL = 'followed by as many /column=value as tell one row a day'

/** Number of the latest rows in which the series of a table are looked for; they cover its last dates. */
const LATEST = 1000

/**
 * https://fiscaldata.treasury.gov/api-documentation. A path is that of a table, such as
 * `v2/accounting/od/debt_to_penny`. A series id adds a field and, if the table has several rows a day, the group:
 * `v2/accounting/od/avg_interest_rates/avg_interest_rate_amt/security_desc=Treasury Bills`. Tables and fields that
 * aren't listed can be requested too. All values are texts; a missing one is the text `null`.
 */
export const usTreasury: Connector = {
  info: providerInfo({
    slug: 'us-treasury',
    name: 'U.S. Treasury',
    description:
      'Debt, cash balance, interest and exchange rates of the United States, by its Fiscal Service.',
    homepage: 'https://fiscaldata.treasury.gov',
    baseUrl: 'https://api.fiscaldata.treasury.gov/services/api/fiscal_service',
  }),
  freshSeconds: 3600,

  at(path, context) {
    if (path === '') return { categories: () => ROOT }
    const table = tables.find((each) => each.path === path)
    if (table === undefined) throw absent()
    return {
      series: async () => {
        const groups = table.by.length === 0 ? [{}] : await groupsOf(table, context)
        return groups.flatMap((group) => seriesOf(table, group))
      },
    }
  },

  async catalogue() {
    const single = tables.filter(({ by }) => by.length === 0)
    return {
      series: single.flatMap((table) => seriesOf(table, {})),
      categories: ROOT,
    }
  },

  async series(id, range, context) {
    const { path, field: asked, group, table } = parseId(id)
    // The record of a period bears the date of its last day, so that of the period in which a range ends lies behind it.
    const last = table?.frequency === 'daily' ? range.end : range.end && `${range.end.slice(0, 4)}-12-31`
    const filter = [
      ...(range.start === undefined ? [] : [`record_date:gte:${range.start}`]),
      ...(last === undefined ? [] : [`record_date:lte:${last}`]),
      // A value that contains a special character of the filter can't be sent in it, so the rows are always compared
      // below too.
      ...Object.entries(group).flatMap(([column, value]) =>
        /^[\w .-]+$/.test(value) ? [`${column}:eq:${value}`] : [],
      ),
    ].join(',')
    const moved = movedTo(table, asked, group)
    const columns = ['record_date', asked, moved, ...Object.keys(group)].filter((each) => each !== undefined)
    const fields = asked === undefined ? undefined : columns.join(',')
    const query = { fields, filter: filter === '' ? undefined : filter, sort: 'record_date' }
    const { rows, meta } = await rowsOf(path, query, context)
    const hasRange = range.start !== undefined || range.end !== undefined
    if (rows.length === 0 && !hasRange) throw absent()
    const field = asked ?? valueField(rows[0] ?? {}, meta)
    if (field === undefined || (rows.length > 0 && !rows.some((row) => field in row))) throw absent()
    const matching = rows.filter((row) =>
      Object.entries(group).every(([column, value]) => text(row[column]) === value),
    )
    const dates = matching.flatMap((row) => text(row['record_date']) ?? [])
    const frequency = table?.frequency ?? inferFrequency(dates.sort())
    if (table === undefined && isAmbiguous(matching, field)) throw malformed(SEVERAL)
    const label = table?.fields[field] ?? text(record(meta['labels'])[field]) ?? field
    return {
      name: titleOf(table?.name, label, group),
      frequency,
      unit: unitOf(path, field, label, text(record(meta['dataTypes'])[field])),
      rows: lastOfEach(
        matching.map((row) => ({ time: text(row['record_date']), value: amountIn(row, field, moved) })),
        table?.frequency,
      ),
    }
  },
}

type Dated = Row & { readonly time: string | null }

/**
 * Of several rows in one period the last, whose status tells the others: a rate of exchange may be amended before its
 * quarter ends.
 */
function lastOfEach(rows: readonly Dated[], frequency: string | undefined): readonly Dated[] {
  if (frequency === undefined || frequency === 'daily') return rows
  const sorted = rows.toSorted((a, b) => Date.parse(a.time ?? '') - Date.parse(b.time ?? ''))
  const periods = Map.groupBy(sorted, ({ time }) => time && periodOfDate(time, frequency).date)
  return [...periods.values()].map((all): Dated => {
    const [last, ...earlier] = all.toReversed() as [Dated, ...Dated[]]
    const others = earlier.map(({ time, value }) => `${text(value)} on ${time}`)
    return others.length === 0 ? last : { ...last, status: `amended, before: ${others.join(', ')}` }
  })
}

/** Whether rows of one date have different values, so that they belong to several series. */
function isAmbiguous(rows: readonly JsonRecord[], field: string): boolean {
  const values = new Map<string | null, string | null>()
  return rows.some((row) => {
    const [date, value] = [text(row['record_date']), text(row[field])]
    const first = values.get(date) ?? value
    values.set(date, first)
    return first !== value
  })
}

function movedTo(table: Table | undefined, field: string | undefined, group: Group): string | undefined {
  const { moved } = table ?? {}
  return moved?.from === field && moved?.where.test(groupText(group)) ? moved.to : undefined
}

/** The value of a field. If it is missing (the text `null`) and the table has moved it, the value of its new column. */
function amountIn(row: JsonRecord, field: string, moved: string | undefined) {
  const isHere = moved === undefined || number(row[field]) !== null || text(row[moved]) === null
  return isHere ? row[field] : row[moved]
}

type Group = Readonly<Record<string, string>>

/** The combinations of the columns in `by` that the latest rows have. */
async function groupsOf(table: Table, context: ConnectorContext): Promise<readonly Group[]> {
  const query = { fields: table.by.join(','), sort: '-record_date', 'page[number]': 1, 'page[size]': LATEST }
  return context.cached({ path: table.path.split('/'), query }, (answer) => {
    const { rows } = read(answer)
    const groups = rows.map(
      (row): Group => Object.fromEntries(table.by.map((column) => [column, text(row[column]) ?? ''])),
    )
    const distinct = new Map(groups.map((group) => [JSON.stringify(group), group]))
    return [...distinct.values()].sort((a, b) => (groupText(a) < groupText(b) ? -1 : 1))
  })
}

function parseId(id: string) {
  const shape =
    'a table, a field, and which of several rows, as v2/accounting/od/debt_to_penny/tot_pub_debt_out_amt'
  const [address = '', ...conditions] = id.split(/\/(?=\w+=)/)
  const table = tables.find(({ path }) => address === path || address.startsWith(`${path}/`))
  const steps = address.split('/')
  // The paths of most tables have four parts, so a fifth is a field.
  const depth = table?.path.split('/').length ?? Math.min(4, steps.length)
  const field = steps[depth]
  if (!/^v\d+(\/[a-z0-9_]+){2,5}$/.test(address) || steps.length > depth + 1) throw malformed(shape)
  const group: Group = Object.fromEntries(
    conditions.map((condition) => {
      const [column = ''] = condition.split('=', 1)
      return [column, condition.slice(column.length + 1)]
    }),
  )
  const missing = table?.by.filter((column) => !(column in group)) ?? []
  if (missing.length > 0) throw malformed(`followed by ${missing.map((each) => `/${each}=…`).join('')}`)
  return {
    path: steps.slice(0, depth).join('/'),
    field: field ?? Object.keys(table?.fields ?? {})[0],
    group,
    table,
  }
}

async function rowsOf(
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  { send }: ConnectorContext,
): Promise<{ rows: readonly JsonRecord[]; meta: JsonRecord }> {
  let meta: JsonRecord = {}
  const rows = await allPages(PAGE, async (offset) => {
    const paged = { ...query, 'page[number]': offset / PAGE + 1, 'page[size]': PAGE }
    const found = read(await send({ path: path.split('/'), query: paged }))
    meta = found.meta
    return { rows: found.rows, total: number(meta['total-count']) }
  })
  return { rows, meta }
}

/**
 * `{data, meta}`, or just `[]` if there is no data. An unknown path is answered with 404 in HTML, an unknown field with
 * 400.
 */
function read(answer: UpstreamAnswer): { rows: readonly JsonRecord[]; meta: JsonRecord } {
  if (answer.status === 400) throw absent()
  const body = openBody(answer)
  const { data, meta } = Array.isArray(body) ? { data: body, meta: null } : record(body)
  if (data === undefined) throw notUnderstood('data is missing')
  return { rows: records(data), meta: record(meta) }
}

/** The first field with a value, according to the types in the answer or else by the end of its name. */
function valueField(row: JsonRecord, meta: JsonRecord): string | undefined {
  const types = record(meta['dataTypes'])
  const names = Object.keys(row).filter((name) => !/^(record|src_line)_/.test(name))
  const isValue = (name: string) => /^(currency|number|percentage|rate)/i.test(text(types[name]) ?? '')
  return names.find(isValue) ?? names.find((name) => /_(amt|rate|bal|qty)$/.test(name))
}

function seriesOf(table: Table, group: Group): readonly SeriesInfo[] {
  const conditions = Object.entries(group).map(([column, value]) => `/${column}=${value}`)
  return Object.entries(table.fields).map(([field, label]) =>
    listed({
      series_id: `${table.path}/${field}${conditions.join('')}`,
      name: titleOf(table.name, label, group),
      frequency: table.frequency,
      unit: unitOf(table.path, field, label, undefined),
    }),
  )
}

function titleOf(table: string | undefined, label: string, group: Group): string {
  return [table, label, groupText(group)].filter((part) => part !== undefined && part !== '').join(', ')
}

function groupText(group: Group): string {
  return Object.values(group).join(', ')
}

function unitOf(path: string, field: string, label: string, type: string | null | undefined): string | null {
  if (/^percentage/i.test(type ?? '') || /interest_rate/.test(field)) return 'percent'
  if (/_ounce_/.test(field)) return 'troy ounces'
  if (/exchange_rate/.test(field)) return 'units of the currency for 1 U.S. dollar'
  if (!/^currency/i.test(type ?? '') && !/_(amt|bal)$/.test(field)) return null
  // The Daily Treasury Statement (dts) is in millions, whatever its fields are called.
  const isMillions = /\/dts\/|_mil_|million/i.test(`${path}/${field} ${label}`)
  return isMillions ? 'millions of U.S. dollars' : 'U.S. dollars'
}
