import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../cluster/s3-server.ts'
import { askTrino } from './ask.ts'
import { LEAST_JAVA, programOf } from './program.ts'

/** The program, or undefined where it can't be run. */
export const TRINO_PROGRAM = programOf()

if (!TRINO_PROGRAM) {
  console.warn(
    `NOT RUN: what needs a Trino. npm run cluster:install -- --trino brings one; it needs a Java of version ${LEAST_JAVA} or later.`,
  )
}

export interface TrinoOptions {
  /** The address of an Iceberg catalog of ours, and the key to it. */
  readonly catalog: string
  readonly key: string
  /** Where the rows are, and where answers are left to be fetched; without one, rows are files of this machine. */
  readonly store?: { readonly endpoint: string; readonly bucket: string } | undefined
  /** How many nodes work: the coordinator alone, or so many beside it. */
  readonly workers?: number
  /** Where settings and logs are kept; a folder that goes with it where none is named. */
  readonly folder?: string
  /** The coordinator's; a free one where none is named. */
  readonly port?: number
  /** Memory of each process, in MiB. */
  readonly memory?: number
  /** How many threads of each node run queries. */
  readonly threads?: number
  /** Whether each worker has a core of its own (the first one core 0, and so on) and compiles what it repeats as well as Java can. */
  readonly forFigures?: boolean
}

/** A real Trino on 127.0.0.1, with one catalog called `parquetry`. Dispose it. */
export class TrinoServer implements AsyncDisposable {
  /** For PARQUETRY_TRINO_URL. */
  readonly url: string
  /** The coordinator first. */
  readonly nodes: ChildProcess[] = []
  readonly folder: string
  readonly #isOwnFolder: boolean

  private constructor(port: number, folder: string | undefined) {
    this.url = `http://127.0.0.1:${port}/parquetry`
    this.#isOwnFolder = folder === undefined
    this.folder = folder ?? mkdtempSync(join(tmpdir(), 'parquetry-trino-'))
  }

  /** Resolves when it answers, after half a minute or so. */
  static async start(options: TrinoOptions): Promise<TrinoServer> {
    const port = options.port ?? (await freePort())
    const { workers = 0 } = options
    const server = new TrinoServer(port, options.folder)
    try {
      for (let number = 0; number <= workers; number++) {
        server.#run(number, number === 0 ? port : await freePort(), options)
      }
      await server.#ready(1 + workers)
      return server
    } catch (error) {
      await server[Symbol.asyncDispose]()
      throw error
    }
  }

  #run(number: number, port: number, options: TrinoOptions): void {
    const { java, home, flags: modules } = TRINO_PROGRAM!
    const folder = join(this.folder, `node-${number}`)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(join(folder, 'etc/catalog'), { recursive: true })
    const write = (name: string, settings: Readonly<Record<string, string | number | boolean>>) =>
      writeFileSync(
        join(folder, 'etc', name),
        Object.entries(settings)
          .map(([key, value]) => `${key}=${value}\n`)
          .join(''),
      )
    const { memory = 1024, store } = options
    const coordinates = number === 0
    write('config.properties', {
      coordinator: coordinates,
      ...(coordinates && { 'node-scheduler.include-coordinator': (options.workers ?? 0) === 0 }),
      'http-server.http.port': port,
      'discovery.uri': new URL(this.url).origin,
      // The dialect of regular expressions that DuckDB has.
      'regex-library': 'RE2J',
      'query.max-memory-per-node': `${Math.round(memory / 2)}MB`,
      'memory.heap-headroom-per-node': `${Math.round(memory / 5)}MB`,
      'plugin.dir': join(home, 'plugin'),
      ...(options.threads !== undefined && { 'task.max-worker-threads': options.threads }),
    })
    const s3 = store && {
      's3.endpoint': store.endpoint,
      's3.region': 'us-east-1',
      's3.path-style-access': true,
      's3.aws-access-key': process.env['AWS_ACCESS_KEY_ID']!,
      's3.aws-secret-key': process.env['AWS_SECRET_ACCESS_KEY']!,
    }
    write('catalog/parquetry.properties', {
      'connector.name': 'iceberg',
      'iceberg.catalog.type': 'rest',
      'iceberg.rest-catalog.uri': options.catalog,
      'iceberg.rest-catalog.warehouse': 'plain',
      'iceberg.rest-catalog.view-endpoints-enabled': false,
      'iceberg.rest-catalog.security': 'OAUTH2',
      'iceberg.rest-catalog.oauth2.token': options.key,
      'iceberg.security': 'read_only',
      ...(s3
        ? { 'fs.native-s3.enabled': true, ...s3 }
        : { 'fs.native-local.enabled': true, 'local.location': '/' }),
    })
    writeFileSync(join(folder, 'etc/log.properties'), 'io.trino=WARN\nio.airlift=WARN\n')
    const log = openSync(join(folder, 'log'), 'a')
    const flags = [`-Xmx${memory}M`, '-XX:+UseSerialGC', ...modules]
    // It starts in half of the time, and small questions never repay more.
    if (!options.forFigures) flags.push('-XX:TieredStopAtLevel=1')
    const [command, ...before] =
      options.forFigures && !coordinates ? ['taskset', '-c', String(number - 1), java] : [java]
    const child = spawn(
      command!,
      [
        ...before,
        ...flags,
        '--sun-misc-unsafe-memory-access=allow',
        '--enable-native-access=ALL-UNNAMED',
        '-XX:+ExitOnOutOfMemoryError',
        '-Djdk.attach.allowAttachSelf=true',
        '-Dconfig=etc/config.properties',
        '-Dnode.environment=parquetry',
        `-Dnode.id=node-${number}`,
        `-Dnode.data-dir=${join(folder, 'data')}`,
        // Without it, Trino listens on every address of the machine.
        '-Dnode.bind-ip=127.0.0.1',
        '-Dnode.internal-address=127.0.0.1',
        `-Dlog.levels-file=${join(folder, 'etc/log.properties')}`,
        '-cp',
        join(home, 'lib/*'),
        'io.trino.server.TrinoServer',
      ],
      { cwd: folder, stdio: ['ignore', log, log] },
    )
    this.nodes.push(child)
    // Nothing of it stays if this process ends without disposing it.
    process.once('exit', () => child.kill('SIGKILL'))
  }

  async #ready(nodes: number): Promise<void> {
    for (;;) {
      const ended = this.nodes.find((node) => node.exitCode !== null)
      if (ended) throw new Error(`Trino ended with ${ended.exitCode}; its log is in ${this.folder}`)
      try {
        const active = "SELECT count(*) FROM system.runtime.nodes WHERE state = 'active'"
        const [[count] = []] = await askTrino(this.url, active)
        if (count === nodes) return
      } catch {}
      await wait(250)
    }
  }

  /** Ends a node as a power cut does. */
  async kill(number: number): Promise<void> {
    const node = this.nodes[number]!
    if (node.exitCode !== null || node.signalCode !== null) return
    const gone = new Promise((done) => node.once('exit', done))
    node.kill('SIGKILL')
    await gone
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((_, number) => this.kill(number)))
    if (this.#isOwnFolder) rmSync(this.folder, { recursive: true, force: true })
  }
}
