import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { postgresPrograms, startPostgres } from './postgres.ts'
import { S3_SERVERS, S3Server } from './s3-server.ts'

/*
 * `npm run cluster`: two nodes on one PostgreSQL and one S3 server of this machine, for trying. Everything is kept in
 * data/cluster, so that the next call goes on where this one was ended. The second node has the port after the first's.
 */

const { values } = parseArgs({ options: { port: { type: 'string', default: '8080' } } })
const root = resolve(import.meta.dirname, '../..')
const folder = resolve(root, 'data/cluster')

const programs = postgresPrograms()
if (S3_SERVERS.length === 0 || !programs) process.exit(1)
mkdirSync(folder, { recursive: true })
await using store = await S3Server.start({ folder: resolve(folder, 'store') })
await using postgres = await startPostgres({ programs, folder: resolve(folder, 'postgres') })
const environment = {
  ...process.env,
  ...store.environment('rows'),
  PARQUETRY_DATABASE: await postgres.database('parquetry'),
}
console.log(`The rows are in ${store.address('rows')} at ${store.endpoint},`)
console.log(`the catalog is in ${environment.PARQUETRY_DATABASE}.\n`)

let ending = false
const nodes = [0, 1].map((number) => {
  const serve = [resolve(root, 'server/main.ts'), 'serve', '--port', String(Number(values.port) + number)]
  return () =>
    spawn(process.execPath, [...serve, '--data', resolve(folder, `node-${number + 1}`)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: environment,
    })
})
const running: ReturnType<(typeof nodes)[number]>[] = []
// All hear Ctrl+C; the nodes end first, because they may still write.
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
process.exitCode = Math.max(...(await Promise.all(ends)))
