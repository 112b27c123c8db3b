import {
  type Engine,
  openEngine,
  type Query,
  type QueryOptions,
  type TrinoStats,
} from '../../engine/index.ts'
import { freePort } from '../cluster/s3-server.ts'
import { type Platform, platform, ROOT_KEY } from '../server/platform.ts'
import { type TrinoOptions, TrinoServer } from './trino-server.ts'

export interface Column {
  readonly name: string
  readonly type: string
}

/** A service whose questions all go to a real Trino that reads its tables, if the dialect can say them. Dispose it. */
export class TrinoService implements AsyncDisposable {
  readonly at: Platform
  readonly trino: TrinoServer
  /** The same tables without a Trino. */
  readonly alone: Engine

  static async start(
    options: { firstByte?: number } & Pick<TrinoOptions, 'workers'> = {},
  ): Promise<TrinoService> {
    const port = await freePort()
    const { CLUSTER_BUCKET: bucket, CLUSTER_ENDPOINT: endpoint } = process.env
    const trino = await TrinoServer.start({
      ...options,
      catalog: `http://127.0.0.1:${port}/iceberg`,
      key: ROOT_KEY,
      // The tests of the cluster have their rows there, and then answers are left there to be fetched.
      store: bucket && endpoint ? { bucket, endpoint } : undefined,
    })
    try {
      const at = await platform({
        config: {
          iceberg: { localFiles: true },
          trinoUrl: trino.url,
          trino: { minBytes: 0 },
          ...(options.firstByte && { timeouts: { firstByte: options.firstByte } }),
        },
      })
      await at.app.listen({ port, host: '127.0.0.1' })
      return new TrinoService(at, trino, await openEngine({ directory: at.directory }))
    } catch (error) {
      await trino[Symbol.asyncDispose]()
      throw error
    }
  }

  private constructor(at: Platform, trino: TrinoServer, alone: Engine) {
    this.at = at
    this.trino = trino
    this.alone = alone
  }

  /** A dataset of these rows, as lines of csv, each list in a part of its own. Gives its id. */
  async table(columns: readonly Column[], ...parts: readonly (readonly string[])[]): Promise<number> {
    const { at } = this
    const call = async (path: string, options: Parameters<Platform['call']>[3]) => {
      const answer = await at.call(at.root, 'POST', path, options)
      if (answer.statusCode >= 300) throw new Error(answer.body)
      return answer.json()
    }
    const repository = await call('/repositories', { json: { name: `tables ${Math.random()}` } })
    const { id } = await call('/datasets', { json: { name: 'table', repositoryId: repository.id, columns } })
    const headers = { 'content-type': 'text/csv' }
    for (const lines of parts) {
      const body = `${columns.map(({ name }) => name).join(',')}\n${lines.map((line) => `${line}\n`).join('')}`
      await call(`/datasets/${id}/data`, { body, headers })
    }
    return id
  }

  async figures(): Promise<TrinoStats> {
    return (
      (await this.at.engine.stats()).executor?.trino ?? { answered: 0, repeated: 0, failed: 0, running: 0 }
    )
  }

  /** Who reads, and why. */
  async explain(id: number, options: QueryOptions): Promise<string> {
    const dataset = await this.at.engine.dataset(id)
    using query = await dataset.query(options)
    return (await query.explain()).split('\n')[0]!
  }

  /** The answer as csv, and what became of the question if it is the only one. */
  async ask(
    id: number,
    options: QueryOptions,
  ): Promise<{ text: string; by: 'Trino' | 'DuckDB' | 'DuckDB after Trino'; why: string }> {
    const dataset = await this.at.engine.dataset(id)
    using query = await dataset.query(options)
    const why = (await query.explain()).split('\n')[0]!
    const before = await this.figures()
    const text = await csv(query)
    const after = await this.figures()
    if (after.answered > before.answered) return { text, by: 'Trino', why }
    return { text, by: after.repeated > before.repeated ? 'DuckDB after Trino' : 'DuckDB', why }
  }

  async askAlone(id: number, options: QueryOptions): Promise<string> {
    const dataset = await this.alone.dataset(id)
    using query = await dataset.query(options)
    return await csv(query)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.alone.close()
    await this.at[Symbol.asyncDispose]()
    await this.trino[Symbol.asyncDispose]()
  }
}

async function csv(query: Query): Promise<string> {
  await using stream = await query.bytes('csv')
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString()
}
