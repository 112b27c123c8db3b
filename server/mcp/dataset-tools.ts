import type { Client, Column } from '../client/index.ts'
import { type AskedRows, QUESTION, questionOf } from './question.ts'
import { fitting, MOST_CHARACTERS, type Tool, text } from './tool.ts'

const MOST_DATASETS = 50
const MOST_ROWS = 500
const USUAL_ROWS = 50
/** Columns are described from at most this many rows. */
const SAMPLE = 1_000
const MOST_DESCRIBED = 100
const EXAMPLES = 5

export const findDatasets: Tool = {
  name: 'find_datasets',
  title: 'Find datasets',
  description:
    'Lists the readable tables with their columns. With words, finds those that have all of the words in their ' +
    'name, description, repository or columns.',
  arguments: {
    type: 'object',
    additionalProperties: false,
    properties: { text: { type: 'string', description: 'Words to search for; without them, all datasets.' } },
  },
  async run(client, given: { text?: string }, signal) {
    const [datasets, repositories] = await Promise.all([
      client.datasets.list({ signal }),
      client.repositories.list({ signal }),
    ])
    const words = (given.text ?? '').toLowerCase().split(/\s+/).filter(Boolean)
    const found = datasets
      .map((one) => ({
        id: one.id,
        name: one.name,
        repository: repositories.find(({ id }) => id === one.repositoryId)?.name ?? '',
        description: one.description,
        rows: one.rowCount,
        columns: one.columns?.map(({ name, type }) => `${name} ${type}`) ?? [`${one.columnCount} columns`],
      }))
      .filter((one) => {
        const all = `${one.name} ${one.repository} ${one.description} ${one.columns.join(' ')}`.toLowerCase()
        return words.every((word) => all.includes(word))
      })
    const shown = fitting(found.slice(0, MOST_DATASETS))
    const cut =
      shown.length < found.length && `The first ${shown.length} of ${found.length}; give more words.`
    return { datasets: shown, ...(cut && { note: cut }) }
  },
}

export const describeDataset: Tool = {
  name: 'describe_dataset',
  title: 'Describe a dataset',
  description:
    'Columns with their types, lowest and highest values, frequent values and nulls, and some rows as an example. Use ' +
    'it before query_dataset, since names of columns and values are case-sensitive.',
  arguments: {
    type: 'object',
    additionalProperties: false,
    required: ['dataset'],
    properties: { dataset: QUESTION.dataset },
  },
  async run(client, { dataset: id }: { dataset: number }, signal) {
    const dataset = await client.datasets.get(id, { signal })
    const columns = dataset.columns.slice(0, MOST_DESCRIBED)
    const rows = await rowsOf(client, id, { select: columns.map(({ name }) => name), top: SAMPLE, signal })
    const described = columns.map((column) => profile(column, rows))
    const whole = rows.length === dataset.rowCount
    const notes = [
      whole ? '' : `Values are from the first ${rows.length} rows only.`,
      columns.length < dataset.columns.length
        ? `The first ${columns.length} of ${dataset.columns.length} columns.`
        : '',
    ].filter(Boolean)
    const base = {
      id,
      name: dataset.name,
      description: dataset.description,
      rows: dataset.rowCount,
      version: dataset.version,
      changed: dataset.updatedAt,
    }
    const shown = fitting(described)
    if (shown.length < described.length) notes.push(`Cut to ${shown.length} columns for length.`)
    const examples = fitting(rows.slice(0, EXAMPLES), MOST_CHARACTERS / 4)
    return { ...base, columns: shown, examples, ...(notes.length > 0 && { note: notes.join(' ') }) }
  },
}

export const queryDataset: Tool = {
  name: 'query_dataset',
  title: 'Query a dataset',
  description:
    `Rows of a dataset that match a filter, sorted, or grouped and aggregated. Returns at most ${MOST_ROWS} rows, and the number of all that match; ` +
    'use export_link to get all of them. To count or sum many rows, use apply instead of reading them.',
  arguments: {
    type: 'object',
    additionalProperties: false,
    required: ['dataset'],
    properties: {
      ...QUESTION,
      top: {
        type: 'integer',
        minimum: 0,
        maximum: MOST_ROWS,
        default: USUAL_ROWS,
        description: 'The most rows to return.',
      },
      skip: { type: 'integer', minimum: 0, description: 'Number of rows to skip.' },
    },
  },
  async run(client, given: AskedRows & { top?: number; skip?: number }, signal) {
    const { dataset: id, top = USUAL_ROWS, skip } = given
    const download = await client.datasets.download(id, 'csv', { ...questionOf(given), top: 0, signal })
    await download.cancel()
    const matching = download.rowCount!
    const rows = top === 0 ? [] : await rowsOf(client, id, { ...questionOf(given), top, skip, signal })
    const shown = fitting(rows)
    const notes = [
      shown.length < rows.length ? `Cut to ${shown.length} rows for length: select fewer columns.` : '',
      (skip ?? 0) + shown.length < matching && top > 0
        ? `Rows ${(skip ?? 0) + 1} to ${(skip ?? 0) + shown.length} of ${matching}.`
        : '',
    ].filter(Boolean)
    return { matching, rows: shown, ...(notes.length > 0 && { note: notes.join(' ') }) }
  },
}

async function rowsOf(
  client: Client,
  id: number,
  question: Parameters<Client['datasets']['rows']>[1],
): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = []
  let length = 0
  for await (const row of client.datasets.rows(id, question)) {
    rows.push(row)
    length += text(row).length
    // Rows may be megabytes long, and only MOST_CHARACTERS are shown. The caller notes what was cut.
    if (length > 40 * MOST_CHARACTERS) break
  }
  return rows
}

function profile({ name, type, description }: Column, rows: readonly Record<string, unknown>[]) {
  const values = rows.map((row) => row[name]).filter((value) => value !== null && value !== undefined)
  const nulls = rows.length - values.length
  const counts = new Map<string, number>()
  for (const value of values) {
    const key = typeof value === 'string' ? value : text(value)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const few = counts.size <= 12 && counts.size < values.length
  const sorted = [...values].sort(compare)
  return {
    name,
    type,
    ...(description && { description }),
    ...(nulls > 0 && { nulls }),
    ...(few
      ? {
          values: Object.fromEntries(
            [...counts].sort((a, b) => b[1] - a[1]).map(([key, count]) => [short(key), count]),
          ),
        }
      : { min: short(sorted[0]), max: short(sorted.at(-1)), distinct: counts.size }),
  }
}

function compare(left: unknown, right: unknown): number {
  if (left === right) return 0
  return (left as number) < (right as number) ? -1 : 1
}

function short<Value>(value: Value): Value | string {
  return typeof value === 'string' && value.length > 80 ? `${value.slice(0, 80)}…` : value
}
