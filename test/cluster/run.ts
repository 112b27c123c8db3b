import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { S3_SERVERS, S3Server } from './s3-server.ts'

/*
 * `npm run cluster`: a node whose rows are in an S3 server of this machine, for trying. Everything is kept in
 * data/cluster, so that the next call goes on where this one was ended. Arguments are those of `parquetry serve`.
 */

const root = resolve(import.meta.dirname, '../..')
const folder = resolve(root, 'data/cluster')

if (S3_SERVERS.length === 0) process.exit(1)
mkdirSync(folder, { recursive: true })
await using store = await S3Server.start({ folder: resolve(folder, 'store') })
console.log(`The rows are in ${store.address('rows')} at ${store.endpoint}.`)
const node = spawn(
  process.execPath,
  [resolve(root, 'server/main.ts'), 'serve', '--data', resolve(folder, 'node'), ...process.argv.slice(2)],
  { stdio: 'inherit', env: { ...process.env, ...store.environment('rows') } },
)
// Both hear Ctrl+C; the node ends first, because it may still write.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => node.kill(signal))
process.exitCode = await new Promise<number>((done) => node.once('exit', (code) => done(code ?? 1)))
