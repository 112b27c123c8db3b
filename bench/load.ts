/**
 * Puts more load on a server than its limits allow, and reports how the clients that cause the load and other clients
 * fare: `node bench/load.ts --clients 500 --seconds 60 [--kind overload|readers|writers|all]`. The server is started
 * here, and everything stays on 127.0.0.1.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openEngine } from '../engine/index.ts'
import { median } from './case.ts'
import { KEY, type Service, startService } from './service/service.ts'

const MOST_CLIENTS = 2_000
const MOST_SECONDS = 600
const ROWS = 500_000
const AUTHORIZATION = `Basic ${Buffer.from(`${KEY}:`).toString('base64')}`

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '500' },
    seconds: { type: 'string', default: '60' },
    kind: { type: 'string', default: 'all' },
  },
})
const clients = Math.min(Number(values.clients), MOST_CLIENTS)
const seconds = Math.min(Number(values.seconds), MOST_SECONDS)
if (!(clients > 0 && seconds > 0) || !['overload', 'readers', 'writers', 'all'].includes(values.kind)) {
  console.error('usage: node bench/load.ts [--clients N] [--seconds N] [--kind overload|readers|writers|all]')
  process.exit(2)
}

const directory = mkdtempSync(join(tmpdir(), 'parquetry-load-'))
try {
  const id = await load(directory)
  const wanted = (kind: string) => values.kind === kind || values.kind === 'all'
  if (wanted('overload')) await withService((service) => overload(service, id))
  if (wanted('readers'))
    await withService((service) => beside(service, 'slow readers', (at) => slowReader(at, id)))
  if (wanted('writers'))
    await withService((service) => beside(service, 'slow writers', (at) => slowWriter(at, id)))
} finally {
  rmSync(directory, { recursive: true, force: true })
}

async function withService(work: (service: Service) => Promise<void>): Promise<void> {
  await using service = await startService(directory)
  await work(service)
}

async function load(into: string): Promise<number> {
  await using engine = await openEngine({ directory: into })
  const repository = await engine.createRepository({ name: 'load' })
  const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'rows' })
  const body = (async function* () {
    yield Buffer.from('n,text\n')
    for (let n = 0; n < ROWS; n += 1_000) {
      yield Buffer.from(
        Array.from({ length: 1_000 }, (_, i) => `${n + i},the text of row ${n + i}\n`).join(''),
      )
    }
  })()
  await (await engine.dataset(id)).replace({ format: 'csv', body })
  return id
}

interface Answer {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly bytes: number
  readonly milliseconds: number
}

/** Asks once. Status 0 means that there was no answer or that it broke off. */
function ask(url: string): Promise<Answer> {
  const start = performance.now()
  return new Promise((resolve) => {
    const none = () =>
      resolve({ status: 0, retryAfter: undefined, bytes: 0, milliseconds: performance.now() - start })
    request(url, { agent: false, headers: { authorization: AUTHORIZATION } }, (answer) => {
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      answer.on('error', none)
      answer.on('end', () =>
        resolve({
          status: answer.statusCode!,
          retryAfter: answer.headers['retry-after'],
          bytes,
          milliseconds: performance.now() - start,
        }),
      )
    })
      .on('error', none)
      .end()
  })
}

/** Clients that ask for exports again and again, all at the same time. */
async function overload(service: Service, id: number): Promise<void> {
  const url = `${service.url}/datasets/${id}/data`
  const alone = async () => {
    const times: number[] = []
    for (let run = 0; run < 7; run++) times.push((await ask(url)).milliseconds)
    return median(times)
  }
  const { bytes: whole } = await ask(url)
  const before = await alone()
  const counts = { whole: 0, 'refused with Retry-After': 0, 'too late (504)': 0, wrong: 0, broken: 0 }
  const curve = watch(service)
  const end = performance.now() + seconds * 1_000
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < end) {
        const { status, bytes, retryAfter } = await ask(url)
        if (status === 200 && bytes === whole) counts.whole += 1
        else if (status === 503 && retryAfter !== undefined) counts['refused with Retry-After'] += 1
        else if (status === 504) counts['too late (504)'] += 1
        else if (status === 0) counts.broken += 1
        else counts.wrong += 1
        // A refused client waits a little before it asks again, but less than the server told it to.
        if (status !== 200) await sleep(200 + Math.random() * 300)
      }
    }),
  )
  const { memory, handles } = curve()
  await sleep(2_000)
  const after = await alone()
  tell(`${clients} clients at once, ${seconds} s`, {
    ...counts,
    'one export before': `${before.toFixed(1)} ms`,
    'one export after': `${after.toFixed(1)} ms, ${(after / before).toFixed(2)} times`,
    memory,
    'file handles': handles,
  })
}

/** Requests of other clients, while some clients hold connections on which hardly anything moves. */
async function beside(service: Service, who: string, open: (service: Service) => Socket): Promise<void> {
  const p99 = async () => {
    const times: number[] = []
    const end = performance.now() + (seconds * 1_000) / 3
    let failed = 0
    while (performance.now() < end) {
      const { status, milliseconds } = await ask(`${service.url}/repositories`)
      if (status === 200) times.push(milliseconds)
      else failed += 1
    }
    const sorted = times.toSorted((a, b) => a - b)
    return { p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0, asked: times.length, failed }
  }
  await p99()
  const idle = await p99()
  const curve = watch(service)
  const sockets = Array.from({ length: clients }, () => open(service))
  const coming = await p99()
  const loaded = await p99()
  const held = sockets.filter((socket) => !socket.destroyed).length
  for (const socket of sockets) socket.destroy()
  const { memory, handles } = curve()
  tell(`${clients} ${who}`, {
    'still connected at the end': held,
    'p99 of GET /repositories, idle': `${idle.p99.toFixed(2)} ms of ${idle.asked}`,
    'p99 while they come': `${coming.p99.toFixed(2)} ms of ${coming.asked}, ${coming.failed} failed`,
    'p99 while they stay': `${loaded.p99.toFixed(2)} ms of ${loaded.asked}, ${loaded.failed} failed`,
    ratios: `${(coming.p99 / idle.p99).toFixed(2)}, ${(loaded.p99 / idle.p99).toFixed(2)}`,
    memory,
    'file handles': handles,
  })
}

/** Asks for a table and reads nothing of the answer. */
function slowReader({ url }: Service, id: number): Socket {
  const socket = opened(url)
  socket.write(`GET /datasets/${id}/data HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTHORIZATION}\r\n\r\n`)
  socket.pause()
  return socket
}

/** Sends an upload byte by byte. */
function slowWriter({ url }: Service, id: number): Socket {
  const socket = opened(url)
  socket.resume()
  socket.write(
    `POST /datasets/${id}/data HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTHORIZATION}\r\n` +
      'Content-Type: text/csv\r\nContent-Length: 1000000\r\n\r\nn,text\n',
  )
  const timer = setInterval(() => socket.write('1'), 1_000)
  socket.once('close', () => clearInterval(timer))
  return socket
}

function opened(url: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  return socket
}

/** Samples memory and file handles until the returned function is called. */
function watch(service: Service): () => { memory: string; handles: string } {
  const memory: number[] = []
  const handles: number[] = []
  const sample = () => {
    memory.push((service.memory() ?? 0) / 2 ** 20)
    handles.push(service.handles() ?? 0)
  }
  sample()
  const timer = setInterval(sample, 250)
  return () => {
    clearInterval(timer)
    sample()
    const curve = (figures: readonly number[], unit: string) =>
      `${Math.round(figures[0]!)} at first, ${Math.round(Math.max(...figures))} at most, ${Math.round(figures.at(-1)!)} at last${unit}`
    return { memory: curve(memory, ' MiB'), handles: curve(handles, '') }
  }
}

function tell(title: string, figures: Readonly<Record<string, number | string>>): void {
  console.log(`\n${title}`)
  for (const [name, value] of Object.entries(figures)) console.log(`  ${name.padEnd(34)} ${value}`)
}
