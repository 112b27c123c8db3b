import { setTimeout as delay } from 'node:timers/promises'
import { FORMATS, type Format } from '../../engine/index.ts'
import { fromPlain, QUERY, VERSION, WRITING } from '../../engine/options.ts'
import { counted } from '../../engine/util/counted.ts'
import type { Client, Column, Profile } from '../client/index.ts'
import { object } from '../records/schema.ts'
import { argumentsOf, DATASET, fitting, inOneKind, MOST_CHARACTERS, noted, type Tool, text } from './tool.ts'

const MOST_DATASETS = 50
const MOST_ROWS = 500
const USUAL_ROWS = 50
const MOST_DESCRIBED = 100
const EXAMPLES = 5
/** The longest pause before the profile is asked for again, in milliseconds; after it, columns come without figures. */
const LONGEST_PAUSE = 12_800

export const findDatasets: Tool = {
  name: 'find_datasets',
  title: 'Find datasets',
  description:
    'Lists the readable tables with their columns. With words, finds those that have all of the words in their ' +
    'name, description, repository or columns.',
  arguments: object([], {
    text: { type: 'string', description: 'Words to search for; without them, all datasets.' },
  }),
  async run(client, given: { text?: string }, signal) {
    const [datasets, repositories] = await Promise.all([
      client.datasets.list({ signal }),
      client.repositories.list({ signal }),
    ])
    const terms = (given.text ?? '').toLowerCase().split(/\s+/).filter(Boolean)
    // One's own come first, and those of others last.
    const inside = Map.groupBy(datasets, ({ repositoryId }) => repositoryId)
    const found = repositories
      .flatMap((repository) => (inside.get(repository.id) ?? []).map((one) => ({ one, repository })))
      .map(({ one, repository: { name: repository, owner } }) => ({
        dataset: one.id,
        name: one.name,
        repository,
        owner,
        description: one.description,
        rows: one.rowCount,
        columns: one.columns?.map(({ name, type }) => `${name} ${type}`) ?? [
          counted(one.columnCount, 'column'),
        ],
      }))
      .filter((one) => {
        const all = `${one.name} ${one.repository} ${one.description} ${one.columns.join(' ')}`.toLowerCase()
        return terms.every((word) => all.includes(word))
      })
    const shown = fitting(found.slice(0, MOST_DATASETS))
    return noted(
      { datasets: shown },
      shown.length < found.length && `The first ${shown.length} of ${found.length}; give more words.`,
    )
  },
}

export const describeDataset: Tool = {
  name: 'describe_dataset',
  title: 'Describe a dataset',
  description:
    'Columns with their types, lowest and highest values, frequent values and nulls, and some rows as an example. Use ' +
    'it before query_dataset, since names of columns and values are case-sensitive.',
  arguments: object(['dataset'], { dataset: DATASET }),
  async run(client, { dataset: id }: { dataset: number }, signal) {
    const dataset = await client.datasets.get(id, { signal })
    const columns = dataset.columns.slice(0, MOST_DESCRIBED)
    const [rows, profile] = await Promise.all([
      gathered(client.datasets.rows(id, { select: columns.map(({ name }) => name), top: EXAMPLES, signal })),
      profileOf(client, id, signal),
    ])
    const profiles = new Map((profile?.columns ?? []).map((column) => [column.name, column]))
    const all = columns.map((column) => described(column, profiles.get(column.name)))
    const shown = fitting(all)
    return noted(
      {
        dataset: id,
        name: dataset.name,
        description: dataset.description,
        rows: dataset.rowCount,
        version: dataset.version,
        changed: dataset.updatedAt,
        columns: shown,
        examples: fitting(rows, MOST_CHARACTERS / 4),
      },
      !profile && 'The figures of the columns are not known yet: ask again later.',
      columns.length < dataset.columns.length &&
        `The first ${columns.length} of ${dataset.columns.length} columns.`,
      shown.length < all.length && `Cut to ${counted(shown.length, 'column')} for length.`,
    )
  },
}

const OPTIONS = { ...QUERY, ...VERSION }
const ROWS = argumentsOf(OPTIONS)

export const queryDataset: Tool = {
  name: 'query_dataset',
  title: 'Query a dataset',
  description:
    `Rows of a dataset that match a filter, sorted, or grouped and aggregated. Returns at most ${MOST_ROWS} rows, and the number of all that match; ` +
    'use export_link to get all of them. To count or sum many rows, use apply instead of reading them.',
  arguments: object(['dataset'], {
    dataset: DATASET,
    ...ROWS,
    top: { ...ROWS['top'], maximum: MOST_ROWS, default: USUAL_ROWS },
    last: { ...ROWS['last'], maximum: MOST_ROWS },
  }),
  async run(client, given: { readonly dataset: number }, signal) {
    const id = given.dataset
    const {
      last,
      top = last === undefined ? USUAL_ROWS : undefined,
      skip,
      ...query
    } = fromPlain(given, OPTIONS)
    const download = await client.datasets.download(id, 'csv', { ...query, top: 0, signal })
    await download.cancel()
    const matching = download.rowCount!
    const rows =
      top === 0
        ? []
        : inOneKind(await gathered(client.datasets.rows(id, { ...query, top, skip, last, signal })))
    const shown = fitting(rows)
    const before = last === undefined ? (skip ?? 0) : Math.max(0, matching - last)
    return noted(
      { matching, rows: shown },
      shown.length < rows.length && cutRows(shown),
      before + shown.length < matching &&
        top !== 0 &&
        `Rows ${before + 1} to ${before + shown.length} of ${matching}.`,
    )
  },
}

export const runSql: Tool = {
  name: 'run_sql',
  title: 'Run SQL',
  description:
    `Rows of one SELECT (DuckDB's SQL) over the readable tables, for joins, windows and subqueries. Tables are written ` +
    `"owner"."repository"."dataset". Returns at most ${MOST_ROWS} rows; aggregate in the statement instead of reading many.`,
  arguments: object(['sql'], {
    sql: { type: 'string', description: 'The statement.' },
    top: {
      type: 'integer',
      minimum: 0,
      maximum: MOST_ROWS,
      default: USUAL_ROWS,
      description: 'The most rows.',
    },
  }),
  async run(client, { sql, top = USUAL_ROWS }: { readonly sql: string; readonly top?: number }, signal) {
    // One more tells whether there are more.
    const rows = await gathered(client.sqlRows(sql, { top: top + 1, signal }))
    const first = inOneKind(rows.slice(0, top))
    const shown = fitting(first)
    return noted(
      { rows: shown },
      shown.length < first.length && cutRows(shown),
      first.length < rows.length && 'There are more rows.',
    )
  },
}

const EXPORT = { ...QUERY, ...WRITING, ...VERSION }

export const exportLink: Tool = {
  name: 'export_link',
  title: 'Link to a whole export',
  description:
    'A URL that downloads all rows of a query as a file, however many there are. It works without a key for five ' +
    'minutes: give it to the user, or fetch it.',
  arguments: object(['dataset'], {
    dataset: DATASET,
    ...argumentsOf(EXPORT),
    format: { type: 'string', enum: FORMATS, default: 'csv', description: 'Format of the file.' },
  }),
  async run(client, given: { readonly dataset: number; readonly format?: Format }, signal) {
    const { dataset, format = 'csv' } = given
    const options = { ...fromPlain(given, EXPORT), signal }
    // If the query is wrong, the agent must get the error now, not the person who opens the link.
    const probe = await client.datasets.download(dataset, format, {
      ...options,
      top: 0,
      skip: undefined,
      last: undefined,
    })
    await probe.cancel()
    const { url, expiresAt } = await client.datasets.link(dataset, format, options)
    return { url: url.href, expiresAt, rows: probe.rowCount }
  },
}

const cutRows = ({ length }: readonly unknown[]) =>
  `Cut to ${counted(length, 'row')} for length: select fewer columns.`

async function gathered(given: AsyncIterable<Record<string, unknown>>): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = []
  let length = 0
  for await (const row of given) {
    rows.push(row)
    length += text(row).length
    // Rows may be megabytes long, and only MOST_CHARACTERS are shown. The caller notes what was cut.
    if (length > 40 * MOST_CHARACTERS) break
  }
  return rows
}

/** The profile, once the server has made it; undefined if that takes long. */
async function profileOf(client: Client, id: number, signal: AbortSignal): Promise<Profile | undefined> {
  for (let pause = 50; pause <= LONGEST_PAUSE; pause *= 2) {
    const made = await client.datasets.profile(id, { signal })
    if (made) return made
    await delay(pause, undefined, { signal })
  }
  return undefined
}

function described(
  { name, type, description, unit }: Column,
  profile: Profile['columns'][number] | undefined,
) {
  const { nulls = 0, distinct, min, max, mean, top } = profile ?? {}
  const isShort = top && distinct && distinct.value <= top.length
  return {
    name,
    type,
    ...(description && { description }),
    ...(unit && { unit }),
    ...(nulls > 0 && { nulls }),
    ...(isShort
      ? { values: Object.fromEntries(top.map(({ value, count }) => [short(String(value)), count])) }
      : distinct && { distinct: distinct.value }),
    ...(min !== undefined && type !== 'boolean' && { min: short(min), max: short(max) }),
    ...(mean !== undefined && { mean }),
  }
}

function short<Value>(value: Value): Value | string {
  return typeof value === 'string' && value.length > 80 ? `${value.slice(0, 80)}…` : value
}
