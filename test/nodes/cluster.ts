import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../server/config/read.ts'
import type { Config } from '../../server/config/schema.ts'
import { type Server, serve } from '../../server/serve.ts'
import { type Postgres, postgresPrograms, startPostgres } from '../cluster/postgres.ts'
import { S3_SERVERS, S3Server } from '../cluster/s3-server.ts'
import { basic } from '../server/platform.ts'

const programs = postgresPrograms()

/** Whether a cluster can be had here. */
export const HAS_CLUSTER = programs !== undefined && S3_SERVERS.length > 0

export const ROOT = 'the-root-key-of-the-cluster'

/** A node, and how it is asked. */
export interface Node {
  readonly server: Server
  /** Lines of its log, parsed. */
  readonly log: Record<string, unknown>[]
  ask(method: string, path: string, body?: string | object, key?: string): Promise<Response>
  close(): Promise<void>
}

export interface NodeOptions {
  /** Another address of the database, for example over a line that can be cut. */
  readonly database?: string
  /** Settings as the configuration file has them. */
  readonly config?: object
  readonly limits?: Partial<Config['limits']>
  readonly takeOver?: boolean
}

/** PostgreSQL, an S3 server, and any number of nodes in this process. */
export class Cluster implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'parquetry-nodes-'))
  readonly postgres: Postgres
  readonly store: S3Server
  readonly #nodes = new Set<Node>()

  static async start(): Promise<Cluster> {
    return new Cluster(await startPostgres({ programs: programs! }), await S3Server.start())
  }

  private constructor(postgres: Postgres, store: S3Server) {
    this.postgres = postgres
    this.store = store
  }

  /** What a process must be told to be a node. */
  environment(database = this.postgres.url): Record<string, string> {
    return {
      ...this.store.environment('rows'),
      PARQUETRY_DATABASE: database,
      PARQUETRY_ROOT_KEY: ROOT,
      PARQUETRY_CACHE_BYTES: '100000000',
    }
  }

  async node(name: string, { database, config = {}, limits, takeOver }: NodeOptions = {}): Promise<Node> {
    const log: Record<string, unknown>[] = []
    const settings = readConfig({ data: join(this.folder, name), port: '0' }, this.environment(database))
    const server = await serve(
      {
        ...settings,
        shedding: { eventLoopDelay: 0, memoryBytes: 0 },
        engine: { threads: 1, workers: 1 },
        ...config,
        limits: { ...settings.limits, ...limits },
      },
      { write: (line) => log.push(JSON.parse(line)) },
      { takeOver },
    )
    const node: Node = {
      server,
      log,
      ask: (method, path, body, key = ROOT) =>
        fetch(`${server.url}${path}`, {
          method,
          headers: {
            authorization: basic(key),
            ...(body !== undefined && {
              'content-type': typeof body === 'string' ? 'text/csv' : 'application/json',
            }),
          },
          body: typeof body === 'object' ? JSON.stringify(body) : (body ?? null),
        }),
      close: async () => {
        this.#nodes.delete(node)
        await server.close()
      },
    }
    this.#nodes.add(node)
    return node
  }

  /** A repository and a dataset with rows in it; gives the dataset's id. */
  async dataset(node: Node, name: string, csv: string, key = ROOT): Promise<number> {
    const { id: repositoryId } = await json<{ id: number }>(
      node.ask('POST', '/repositories', { name, private: false }, key),
    )
    const { id } = await json<{ id: number }>(node.ask('POST', '/datasets', { name, repositoryId }, key))
    await json(node.ask('PUT', `/datasets/${id}/data`, csv, key))
    return id
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([...this.#nodes].map((node) => node.close()))
    await this.postgres[Symbol.asyncDispose]()
    await this.store[Symbol.asyncDispose]()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** The JSON of an answer, which must be 2xx. */
export async function json<T>(answer: Promise<Response>): Promise<T> {
  const response = await answer
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status} ${text}`)
  return JSON.parse(text) as T
}
