import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openEngine } from '../../engine/index.ts'
import { type Postgres, postgresPrograms, startPostgres } from '../../test/cluster/postgres.ts'
import { PostgresLine } from '../../test/cluster/postgres-line.ts'
import { S3_SERVERS, S3Server } from '../../test/cluster/s3-server.ts'
import { type BenchOptions, type Case, median } from '../case.ts'
import { Askers } from '../service/askers.ts'
import { cpuOf, KEY, parentOf, type Service, startService } from '../service/service.ts'

const MOST_NODES = 3
const WARMING_MS = 3_000
const WINDOWS = 5

interface Kind {
  readonly name: string
  /** To each node. */
  readonly connections: number
  readonly path: (dataset: number) => string
}

const KINDS: readonly Kind[] = [
  { name: 'metadata', connections: 8, path: (dataset) => `/datasets/${dataset}` },
  { name: 'a repeated question', connections: 8, path: (dataset) => `/datasets/${dataset}/data?$top=5` },
  {
    name: '5 rows of a new filter',
    connections: 8,
    path: (dataset) => `/datasets/${dataset}/data?$top=5&$filter=price%20gt%20${Math.random()}`,
  },
  { name: 'csv exports', connections: 2, path: (dataset) => `/datasets/${dataset}/data` },
]

/**
 * Reads over one, two and three nodes, each held to one core. On a machine with two cores the nodes share them with the
 * database, the store and the clients, so the requests in a second say little there; but if the processor's time of a
 * request stays the same, so do the requests of each node that has a core of its own, until the database is busy.
 */
export async function* measure({ quick }: BenchOptions): AsyncGenerator<Case> {
  const programs = postgresPrograms()
  if (!programs || S3_SERVERS.length === 0 || spawnSync('taskset', ['--version']).status !== 0) {
    console.log('nodes: not measured, needs PostgreSQL, an S3 server (npm run cluster:install) and taskset')
    return
  }
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-bench-nodes-'))
  const nodes: Service[] = []
  try {
    await using store = await S3Server.start()
    await using postgres = await startPostgres({ programs })
    const database = await postgres.database('parquetry')
    const environment = {
      ...store.environment('rows'),
      PARQUETRY_DATABASE: database,
      PARQUETRY_CACHE_BYTES: '1000000000',
    }
    const dataset = await load(join(folder, 'loading'), database, store, quick ? 50_000 : 300_000)
    const meter = await Meter.of(postgres, nodes)
    const alone = new Map<string, Measured>()
    for (let count = 1; count <= MOST_NODES; count++) {
      const core = (count - 1) % availableParallelism()
      nodes.push(await startService(join(folder, `node-${count}`), { environment, core }))
      for (const kind of KINDS) {
        const urls = nodes.map(({ url }) => url)
        const measured = await meter.run(urls, kind, dataset, quick ? 1_000 : 4_000)
        if (count === 1) alone.set(kind.name, measured)
        yield* casesOf(kind, count, measured, alone.get(kind.name)!)
      }
    }
    for (const node of nodes.splice(0)) await node[Symbol.asyncDispose]()
    await using line = await PostgresLine.before(postgres.url)
    await using counted = await startService(join(folder, 'counted'), {
      environment: { ...environment, PARQUETRY_DATABASE: line.url(database) },
    })
    for (const kind of KINDS) yield* queries(line, counted.url, kind, dataset, quick ? 1_500 : 3_000)
  } finally {
    for (const node of nodes) await node[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function load(directory: string, database: string, store: S3Server, rows: number): Promise<number> {
  await using engine = await openEngine({
    directory,
    database,
    store: { address: store.address('rows'), endpoint: store.endpoint, cacheBytes: 1_000_000_000 },
  })
  const repository = await engine.createRepository({ name: 'bench' })
  const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'rows' })
  const body = (async function* () {
    yield Buffer.from('n,price,text\n')
    for (let n = 0; n < rows; n++) yield Buffer.from(`${n},${(n * 7919) % 1009},the text of row ${n}\n`)
  })()
  await (await engine.dataset(id)).replace({ format: 'csv', body })
  return id
}

/** The database's queries for a request, where one request is made at a time and where several are. */
async function* queries(
  line: PostgresLine,
  url: string,
  kind: Kind,
  dataset: number,
  milliseconds: number,
): AsyncGenerator<Case> {
  for (const connections of [1, kind.connections]) {
    using askers = new Askers([url], connections, KEY, () => kind.path(dataset))
    await Promise.race([sleep(WARMING_MS), askers.failed])
    const each: number[] = []
    // Heartbeats and other work of the node come in between, so most times are without them.
    for (let n = 0; n < WINDOWS; n++) {
      const [statements, requests] = [line.statements, askers.answered]
      await Promise.race([sleep(milliseconds / WINDOWS), askers.failed])
      each.push((line.statements - statements) / (askers.answered - requests))
    }
    yield { name: `${kind.name}, ${connections} at a time`, value: median(each), unit: 'queries/request' }
  }
}

interface Measured {
  readonly perSecond: number
  /** Of one request, milliseconds of the processor. */
  readonly nodes: number
  readonly database: number
}

function* casesOf({ name }: Kind, count: number, measured: Measured, one: Measured): Generator<Case> {
  const what = `${name}, ${count} ${count === 1 ? 'node' : 'nodes'}`
  const beside = (key: keyof Measured) =>
    count === 1 ? {} : { rival: 'one node', rivalValue: one[key], ratio: measured[key] / one[key] }
  yield { name: what, value: measured.perSecond, unit: 'requests/s', ...beside('perSecond') }
  yield { name: '  of the nodes, a request', value: measured.nodes, unit: 'ms CPU', ...beside('nodes') }
  yield {
    name: '  of PostgreSQL, a request',
    value: measured.database,
    unit: 'ms CPU',
    ...beside('database'),
  }
}

interface Sample {
  readonly at: number
  readonly requests: number
  readonly nodes: number
  readonly database: number
}

/** Looks at the requests and the processor's time while requests are made. */
class Meter {
  readonly #server: number
  readonly #nodes: readonly Service[]

  /** @param nodes to which more may be added */
  static async of({ url }: Postgres, nodes: readonly Service[]): Promise<Meter> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
    const server = parentOf(rows[0].pid)!
    await client.end()
    return new Meter(server, nodes)
  }

  private constructor(server: number, nodes: readonly Service[]) {
    this.#server = server
    this.#nodes = nodes
  }

  async run(urls: readonly string[], kind: Kind, dataset: number, milliseconds: number): Promise<Measured> {
    using askers = new Askers(urls, kind.connections, KEY, () => kind.path(dataset))
    const wait = (time: number) => Promise.race([sleep(time), askers.failed])
    await wait(WARMING_MS)
    const before = this.#sample(askers)
    await wait(milliseconds)
    const after = this.#sample(askers)
    const requests = after.requests - before.requests
    const each = (key: 'nodes' | 'database') => (after[key] - before[key]) / requests
    return {
      perSecond: (1_000 * requests) / (after.at - before.at),
      nodes: each('nodes'),
      database: each('database'),
    }
  }

  #sample({ answered }: Askers): Sample {
    const processes = readdirSync('/proc').filter((name) => parentOf(name) === this.#server)
    return {
      at: performance.now(),
      requests: answered,
      nodes: this.#nodes.reduce((sum, node) => sum + (node.cpu() ?? 0), 0),
      database: processes.reduce((sum, pid) => sum + (cpuOf(pid) ?? 0), 0),
    }
  }
}
