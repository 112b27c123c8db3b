import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { Cluster, json, type Node } from '../nodes/cluster.ts'
import { COLUMNS, LINES } from '../trino/every-type.ts'

type Column = (typeof COLUMNS)[number]

/** Parts of the table `many`. */
export const PARTS = 3
const ROWS_OF_PART = 5_000

/**
 * A node of a cluster with tables for programs that read Iceberg: `every type`; `bytes`, of the only type that csv lacks;
 * `many`, whose parts hold one range of `n` each; `moving`; and `secret` in a private repository. All others are in the
 * repository `tables`. Dispose it.
 */
export class ClusterTables implements AsyncDisposable {
  readonly cluster: Cluster
  readonly node: Node
  readonly columns: readonly Column[]
  /** May read all but `secret`. */
  readonly reader: string
  readonly repository: number
  readonly ids: Readonly<Record<string, number>>

  /** @param columns those of the tables */
  static async start(columns: readonly Column[] = COLUMNS): Promise<ClusterTables> {
    const cluster = await Cluster.start()
    try {
      const node = await cluster.node('node')
      const account = { name: 'reader', plan: 'unlimited' }
      const { apiKey } = await json<{ apiKey: string }>(node.ask('POST', '/accounts', account))
      const secret = { name: 'secret', private: true }
      const hidden = await json<{ id: number }>(node.ask('POST', '/repositories', secret))
      await json(node.ask('POST', '/datasets', { name: 'secret', repositoryId: hidden.id }))
      const tables = await json<{ id: number }>(
        node.ask('POST', '/repositories', { name: 'tables', private: false }),
      )
      const table = async (name: string, ...parts: readonly (readonly string[])[]) => {
        const body = { name, repositoryId: tables.id, columns }
        const { id } = await json<{ id: number }>(node.ask('POST', '/datasets', body))
        for (const lines of parts) await json(node.ask('POST', `/datasets/${id}/data`, csvOf(columns, lines)))
        return id
      }
      const bytes = await table('bytes')
      const columnsOfBytes = [{ name: 'bytes', type: 'binary' }]
      const rows = [['AP8='], [null], ['']]
      const data = `/datasets/${bytes}/data?columns=replace`
      await json(node.ask('PUT', data, { columns: columnsOfBytes, rows }))
      const all = Array.from({ length: PARTS }, (_, part) => linesOf(part))
      const ids = {
        bytes,
        'every type': await table('every type', LINES.slice(0, 3), LINES.slice(3)),
        many: await table('many', ...all),
        moving: await table('moving', LINES.slice(0, 1)),
      }
      return new ClusterTables(cluster, node, { columns, reader: apiKey, repository: tables.id, ids })
    } catch (error) {
      await cluster[Symbol.asyncDispose]()
      throw error
    }
  }

  private constructor(
    cluster: Cluster,
    node: Node,
    made: Pick<ClusterTables, 'columns' | 'reader' | 'repository' | 'ids'>,
  ) {
    this.cluster = cluster
    this.node = node
    this.columns = made.columns
    this.reader = made.reader
    this.repository = made.repository
    this.ids = made.ids
  }

  get catalog(): string {
    return `${this.node.server.url}/iceberg`
  }

  /** Replaces the rows of `moving`. */
  async move(): Promise<void> {
    const path = `/datasets/${this.ids['moving']}/data`
    await json(this.node.ask('PUT', path, csvOf(this.columns, LINES.slice(3, 5))))
  }

  /** The rows of a table as our csv has them, in the form of `sameText`, in no order. */
  async rows(name: string): Promise<string[]> {
    const answer = await this.node.ask('GET', `/datasets/${this.ids[name]}/data?$null=NULL`)
    const file = join(this.cluster.folder, 'rows.csv')
    await writeFile(file, await answer.text())
    const { connection, close } = await openDuckDB()
    const sql = `FROM read_csv('${file}', header = true, all_varchar = true, nullstr = 'NULL', allow_quoted_nulls = false)`
    const rows = (await connection.runAndReadAll(sql)).getRowsJson()
    close()
    return this.sameText(rows as (string | null)[][])
  }

  /** Rows whose values a program wrote as text, in a form that is the same for all programs, in no order. */
  sameText(rows: readonly (readonly (string | null)[])[]): string[] {
    return rows
      .map((row) => JSON.stringify(row.map((cell, index) => sameCell(this.columns[index]!.type, cell))))
      .toSorted()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cluster[Symbol.asyncDispose]()
  }
}

/** A value as all programs write it: some write `T` between day and time, a zone, zeros at the end, `Infinity`. */
function sameCell(type: Column['type'], text: string | null): string | null {
  if (text === null) return null
  switch (type) {
    case 'double':
      return String(Number(text.replace(/^(-?)inf.*$/i, '$1Infinity')))
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return text
        .replace(/Z$|\+00$| UTC$/, '')
        .replace('T', ' ')
        .replace(/\.0*$|(?<=\.\d+)0+$/, '')
    default:
      return text
  }
}

function csvOf(columns: readonly Column[], lines: readonly string[]): string {
  const positions = columns.map(({ name }) => COLUMNS.findIndex((column) => column.name === name))
  const cut = lines.map((line) => {
    const cells = line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/)
    return positions.map((position) => cells[position]).join(',')
  })
  return `${[columns.map(({ name }) => name).join(','), ...cut].join('\n')}\n`
}

/** Rows with few and with many different values, so that DuckDB encodes columns of one type in several ways. */
function linesOf(part: number): string[] {
  return Array.from({ length: ROWS_OF_PART }, (_, at) => {
    const n = part * ROWS_OF_PART + ((at * 7) % ROWS_OF_PART)
    const digits = String(n).padStart(6, '0')
    const moment = `2024-01-01T00:00:${digits.slice(-2)}.${digits}`.replace(/:[6-9]/, ':0')
    const cells = [
      n,
      n % 3 === 0,
      Math.sin(n) * 1e5,
      (n * 1.001).toFixed(3),
      `word ${part === 0 ? n % 5 : n}`,
      new Date(n * 86_400_000).toISOString().slice(0, 10),
      moment.slice(11),
      moment,
      `${moment}Z`,
      `00000000-0000-4000-8000-${digits.padStart(12, '0')}`,
      `[${n}]`,
    ]
    return cells.map((cell, index) => (index > 0 && (n + index) % 11 === 0 ? '' : cell)).join(',')
  })
}

export async function openDuckDB(): Promise<{ connection: DuckDBConnection; close(): void }> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  return {
    connection,
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}
