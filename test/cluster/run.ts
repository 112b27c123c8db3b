import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { run } from './install-run.ts'
import { postgresPrograms, startPostgres } from './postgres.ts'
import { S3_SERVERS, S3Server } from './s3-server.ts'
import { HTTPFS_FILE, INSTALLED } from './tools.ts'

/*
 * `npm run cluster`: two nodes on one PostgreSQL and one S3 server of this machine, for trying. Everything is kept in
 * data/cluster, so that the next call goes on where this one was ended. The second node has the port after the first's.
 * Parts are read by ranges if DuckDB's extension httpfs could be installed.
 *
 * With --trino, a Trino answers every question that it can, however small, and has the port after those; this cluster
 * is kept in data/cluster-trino.
 */

const { values } = parseArgs({
  options: { port: { type: 'string', default: '8080' }, trino: { type: 'boolean', default: false } },
})
const root = resolve(import.meta.dirname, '../..')
const folder = resolve(root, values.trino ? 'data/cluster-trino' : 'data/cluster')
const port = Number(values.port)

if (values.trino && !run(process.execPath, resolve(import.meta.dirname, 'install.ts'), '--trino'))
  process.exit(1)
// It says what is missing, which nobody asked without --trino.
const withTrino = values.trino ? await import('../trino/trino-server.ts') : undefined
const programs = postgresPrograms()
if (S3_SERVERS.length === 0 || !programs || (withTrino && !withTrino.TRINO_PROGRAM)) process.exit(1)
if (isRunning(resolve(folder, 'postgres/data/postmaster.pid'))) {
  console.error(`The cluster in ${folder} is already running. End it with Ctrl+C where it was started.`)
  process.exit(1)
}
mkdirSync(folder, { recursive: true })
// They end after the nodes, which may still write when Ctrl+C is pressed.
await using store = await S3Server.start({ folder: resolve(folder, 'store'), detached: true })
await using postgres = await startPostgres({ programs, folder: resolve(folder, 'postgres'), detached: true })

/** @param file of PostgreSQL, its process in the first line */
function isRunning(file: string): boolean {
  try {
    return process.kill(Number(readFileSync(file, 'utf8').split('\n', 1)[0]), 0)
  } catch {
    return false
  }
}

/** What the nodes are told of Trino, and the key with which it reads their tables. */
function aboutTrino(): { key: string; environment: Record<string, string> } {
  const file = resolve(folder, 'root-key')
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('base64url'), { mode: 0o600 })
  const key = readFileSync(file, 'utf8')
  const config = resolve(folder, 'config.json')
  writeFileSync(config, JSON.stringify({ trino: { minBytes: 0 } }))
  const url = `http://127.0.0.1:${port + 2}/parquetry`
  return {
    key,
    environment: { PARQUETRY_ROOT_KEY: key, PARQUETRY_CONFIG: config, PARQUETRY_TRINO_URL: url },
  }
}

const trino = values.trino ? aboutTrino() : undefined
const environment = {
  ...process.env,
  ...trino?.environment,
  ...store.environment('rows'),
  ...(existsSync(resolve(INSTALLED, HTTPFS_FILE)) && { PARQUETRY_HTTPFS: INSTALLED }),
  PARQUETRY_DATABASE: await postgres.database('parquetry'),
}
console.log(`The rows are in ${store.address('rows')} at ${store.endpoint},`)
console.log(`the catalog is in ${environment.PARQUETRY_DATABASE}.\n`)

let ending = false
const nodes = [0, 1].map((number) => {
  const serve = [resolve(root, 'server/bin.js'), 'serve', '--port', String(port + number)]
  return () =>
    spawn(process.execPath, [...serve, '--data', resolve(folder, `node-${number + 1}`)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: environment,
    })
})
const running: ReturnType<(typeof nodes)[number]>[] = []
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    ending = true
    for (const node of running) node.kill(signal)
  })
}
const ends: Promise<number>[] = []
// One after the other, so that the first one shows the key of root.
for (const start of nodes) {
  if (ending) break
  const node = start()
  running.push(node)
  node.stdout.pipe(process.stdout)
  ends.push(new Promise((done) => node.once('exit', (code) => done(code ?? 1))))
  await Promise.race([new Promise((done) => node.stdout.once('data', done)), ends.at(-1)])
}
if (trino && withTrino && !ending) {
  console.log('\nTrino starts …')
  await using server = await withTrino.TrinoServer.start({
    port: port + 2,
    catalog: `http://127.0.0.1:${port}/iceberg`,
    key: trino.key,
    store: { endpoint: store.endpoint, bucket: store.bucket },
    folder: resolve(folder, 'trino'),
  }).catch(async (error) => {
    for (const node of running) node.kill()
    await Promise.all(ends)
    throw error
  })
  console.log(`Trino is at ${new URL(server.url).origin}; the key of root is ${trino.key}`)
  await Promise.all(ends)
}
process.exitCode = Math.max(...(await Promise.all(ends)))
