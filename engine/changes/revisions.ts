import { isAttached, type Part, type Version } from '../catalog/records.ts'
import { readParts } from '../parquet/read-parts.ts'
import type { Lease } from '../store/membership/membership.ts'
import type { Store } from '../store/store.ts'
import { type Column, type ColumnType, quoteLiteral } from '../types/index.ts'
import { PastRows, type ReadingContext, valueSql } from './past-rows.ts'

/** The columns in which a dataset has values of series. A version that lacks one has null in its place. */
export interface SeriesColumns {
  /** Names the series. */
  readonly series: string
  /** The text that names the period; where it is null, the date does. */
  readonly period: string
  /** The date or the time at which the period begins, in one of these columns. */
  readonly date: string
  readonly time: string
  readonly value: string
}

/** The most versions that are compared, from the newest on. */
const MOST_VERSIONS = 1000

const column = (name: string, type: ColumnType): Column => ({ name, type, nullable: true, description: '' })

/** The columns after the name of the series. */
const COLUMNS: readonly Column[] = [
  column('period', 'string'),
  column('value', 'double'),
  column('known_from', 'timestamptz'),
  column('known_to', 'timestamptz'),
  column('first_release', 'double'),
  column('revision', 'double'),
]

/**
 * What was known when of the values of series, according to the versions that are kept: a row for each value that a
 * period had, in the order of series, periods and time. `known_from` is when the first version with the value was made,
 * `known_to` when the one was made that had another value or none; null while it is current. `first_release` is the first
 * value of the period that was not null, `revision` the difference from it.
 */
export class Revisions extends PastRows {
  /** When the oldest version that was read was made, ISO 8601. Its values may have been known before. */
  readonly since: string

  private constructor(
    leases: readonly Lease[],
    store: Store,
    context: ReadingContext,
    { datasetId, columns, only }: RevisionsRequest,
  ) {
    const versions = leases.map(({ version }) => version)
    const seen = versions.filter(
      (version, index) => index === 0 || !hasSameParts(version, versions[index - 1]!),
    )
    const names = only === undefined ? '' : ` ${JSON.stringify([columns, only])}`
    super(leases, store, context, {
      identity: `${datasetId}.revisions ${seen.map(({ number }) => number).join(' ')}${names}`,
      columns: [column(columns.series, 'string'), ...COLUMNS],
      parts: seen.flatMap(({ parts }) => parts),
      sql: revisionsSql(seen, { columns, only }, (part) => store.integrity.file(part)),
      most: seen.reduce((sum, { rows }) => sum + rows, 0),
      isCompared: true,
      isEmpty: false,
    })
    this.since = versions[0]!.createdAt
  }

  /** @param only names of series; by default all. @throws EngineError `not_found` */
  static async open(
    store: Store,
    datasetId: number,
    columns: SeriesColumns,
    only: readonly string[] | undefined,
    context: ReadingContext,
  ): Promise<Revisions> {
    const leases: Lease[] = []
    try {
      const numbers = (await store.history.numbers(datasetId)).slice(0, MOST_VERSIONS)
      for (const number of numbers.toReversed()) {
        const lease = await store.readNumbered(datasetId, { number })
        // One that has been removed meanwhile is as one that was removed before.
        if (lease) leases.push(lease)
      }
      if (leases.length === 0) leases.push(await store.members.take(datasetId))
      return new Revisions(leases, store, context, { datasetId, columns, only })
    } catch (error) {
      for (const lease of leases) lease[Symbol.dispose]()
      throw error
    }
  }
}

interface RevisionsRequest {
  readonly datasetId: number
  readonly columns: SeriesColumns
  readonly only: readonly string[] | undefined
}

function hasSameParts({ parts }: Version, before: Version): boolean {
  return (
    parts.length === before.parts.length && parts.every(({ id }, index) => id === before.parts[index]!.id)
  )
}

/** A row for each run of versions in which a period of a series has the same value. */
function revisionsSql(
  versions: readonly Version[],
  request: Pick<RevisionsRequest, 'columns' | 'only'>,
  fileOf: (part: Part) => string,
): string {
  const times = versions.map(({ createdAt }) => `TIMESTAMPTZ ${quoteLiteral(createdAt)}`)
  const period = 'PARTITION BY series, period'
  // A period that a version has twice has its last value.
  const values = `SELECT step, series, period, any_value(begins) AS begins, last(value ORDER BY place) AS value
    FROM (${valuesSql(versions, request, fileOf)}) GROUP BY step, series, period`
  const marked = `SELECT *, coalesce(step = lag(step) OVER w + 1 AND value IS NOT DISTINCT FROM lag(value) OVER w, false) AS same
    FROM (${values}) WINDOW w AS (${period} ORDER BY step)`
  const numbered = `SELECT *, sum(CAST(NOT same AS INTEGER)) OVER (${period} ORDER BY step) AS run FROM (${marked})`
  const runs = `SELECT series, period, any_value(begins) AS begins, first(value) AS value, min(step) AS opened, max(step) AS closed
    FROM (${numbered}) GROUP BY series, period, run`
  const released = `SELECT *, arg_min(value, opened) OVER (${period}) AS released FROM (${runs})`
  // An element beyond the end of a list is null.
  return `(SELECT series AS c0, period AS c1, value AS c2, known[opened + 1] AS c3, known[closed + 2] AS c4, released AS c5,
      value - released AS c6, 0 AS file_index, row_number() OVER (ORDER BY series, begins, period, opened) AS file_row_number
    FROM (${released}), (SELECT [${times.join(', ')}] AS known))`
}

/** The values of all versions, each with the place of its version among them. */
function valuesSql(
  versions: readonly Version[],
  { columns, only }: Pick<RevisionsRequest, 'columns' | 'only'>,
  fileOf: (part: Part) => string,
): string {
  const alike = Map.groupBy(versions.entries(), ([, version]) => JSON.stringify(version.columns))
  const selects = [...alike.values()].flatMap((group) => {
    const files = [...new Set(group.flatMap(([, { parts }]) => parts.map(fileOf)))]
    if (files.length === 0) return []
    const indexes = new Map(files.map((file, index) => [file, index]))
    const pairs = group.flatMap(([step, { parts }]) =>
      parts.map((part, index) => `(${indexes.get(fileOf(part))}, ${step}, ${index})`),
    )
    const sqlOf = (name: keyof SeriesColumns, type: ColumnType) =>
      valueSql(group[0]![1].columns, column(columns[name], type))
    const series = sqlOf('series', 'string')
    const begins = `coalesce(${sqlOf('time', 'timestamp')}, CAST(${sqlOf('date', 'date')} AS TIMESTAMP))`
    const where = only === undefined ? '' : ` WHERE ${series} IN (${only.map(quoteLiteral).join(', ')})`
    return [
      `SELECT v.step AS step, ${series} AS series, coalesce(${sqlOf('period', 'string')}, CAST(CAST(${begins} AS DATE) AS VARCHAR)) AS period,
        ${begins} AS begins, ${sqlOf('value', 'double')} AS value, v.part * ${2 ** 40} + file_row_number AS place
      FROM ${readParts(files, isAttached(group[0]![1].parts) ? group[0]![1].columns : undefined)} JOIN (VALUES ${pairs.join(', ')}) AS v(file, step, part)
        ON v.file = file_index${where}`,
    ]
  })
  if (selects.length > 0) return selects.join(' UNION ALL ')
  const none = [
    'BIGINT AS step',
    'VARCHAR AS series',
    'VARCHAR AS period',
    'TIMESTAMP AS begins',
    'DOUBLE AS value',
  ]
  return `SELECT ${[...none, 'BIGINT AS place'].map((one) => `CAST(NULL AS ${one.replace(' AS ', ') AS ')}`).join(', ')} WHERE false`
}
