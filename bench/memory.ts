/**
 * How much server memory is used for clients that hardly read: `node bench/memory.ts [--seconds 60]`. First ten clients
 * read exports of 1,500,000 rows of 1.8 KB each at a megabyte a second, then a hundred clients read nothing. Everything
 * stays on 127.0.0.1 and ends by itself.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { openEngine } from '../engine/index.ts'
import { KEY, type Service, startService } from './service/service.ts'

const ROWS = 1_500_000
const PER_SECOND = 1 << 20
const STEP = 100
const AUTHORIZATION = `Basic ${btoa(`${KEY}:`)}`

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } })
const seconds = Math.min(Number(values.seconds), 600)
if (!(seconds > 0)) {
  console.error('usage: node bench/memory.ts [--seconds N]')
  process.exit(2)
}
const directory = mkdtempSync(join(tmpdir(), 'parquetry-memory-'))
try {
  const id = await load()
  await growth('ten clients that read 1 MB/s', id, 10, PER_SECOND)
  await growth('a hundred clients that read nothing', id, 100, 0)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
process.exit(0)

async function load(): Promise<number> {
  const file = join(directory, 'wide.parquet')
  const duckdb = await (await DuckDBInstance.create()).connect()
  await duckdb.run(
    `COPY (SELECT i AS id, repeat(md5(i::VARCHAR), 56) AS text FROM range(${ROWS}) t(i)) TO '${file}' (FORMAT parquet)`,
  )
  duckdb.closeSync()
  await using engine = await openEngine({ directory: join(directory, 'data') })
  const repository = await engine.createRepository({ name: 'wide' })
  const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'rows' })
  await (await engine.dataset(id)).replace({ body: { file }, format: 'parquet' })
  rmSync(file)
  return id
}

async function growth(title: string, id: number, clients: number, rate: number): Promise<void> {
  await using service = await startService(join(directory, 'data'))
  // This first export starts the threads that encode, so that their memory isn't counted below.
  await service.drain(`/datasets/${id}/data?$top=20000`)
  const before = service.memory()!
  let most = before
  let slowest = 0
  const readers = Array.from({ length: clients }, () => reader(service, id, rate))
  for (const end = performance.now() + seconds * 1_000; performance.now() < end; ) {
    slowest = Math.max(slowest, (await service.ask('/repositories')).last)
    most = Math.max(most, service.memory()!)
    await sleep(STEP)
  }
  const metrics = await (
    await fetch(`${service.url}/metrics`, { headers: { authorization: AUTHORIZATION } })
  ).text()
  const ended = [...metrics.matchAll(/^parquetry_exports_total.*outcome="(\w+)".* (\d+)$/gm)]
  const read = readers.reduce((sum, { bytes }) => sum + bytes(), 0)
  for (const { socket } of readers) socket.destroy()
  const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`
  console.log(`${title}, ${seconds} s`)
  console.log(`  memory          ${mib(before)} before, ${mib(most)} at most: ${mib(most - before)} more`)
  console.log(
    `  clients         ${mib(read)} read; exports that ended: ${ended.map((one) => `${one[2]} ${one[1]}`).join(', ')}`,
  )
  console.log(`  others          the slowest GET /repositories took ${slowest.toFixed(0)} ms`)
}

/** Reads `rate` bytes a second, in steps; reads nothing if `rate` is 0. */
function reader({ url }: Service, id: number, rate: number): { socket: Socket; bytes: () => number } {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let bytes = 0
  let allowed = 0
  socket.on('error', () => {})
  socket.pause()
  const take = () => {
    allowed += (rate * STEP) / 1_000
    for (let chunk: Buffer | null; allowed > 0; allowed -= chunk.length) {
      chunk = socket.read()
      if (!chunk) break
      bytes += chunk.length
    }
  }
  const timer = rate > 0 ? setInterval(take, STEP) : undefined
  socket.once('close', () => clearInterval(timer))
  socket.write(`GET /datasets/${id}/data HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTHORIZATION}\r\n\r\n`)
  return { socket, bytes: () => bytes }
}
