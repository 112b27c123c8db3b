/**
 * Appends one row a request over some connections for some time, each as soon as the one before is answered, and prints
 * what came of it as JSON. A process of its own, so that its work isn't that of whoever measures.
 */
import { Agent, request } from 'node:http'

export interface Appending {
  /** Client number n appends to the one with number n modulo their count. */
  readonly urls: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly clients: number
  readonly milliseconds: number
  /** The body around the row: `{"rows":[…]}`, say. */
  readonly around: readonly [before: string, after: string]
}

export interface Appended {
  /** Rows that were acknowledged in a second. */
  readonly rate: number
  readonly p99: number
  /** Requests that were not acknowledged. */
  readonly refused: number
}

const { urls, headers, clients, milliseconds, around } = JSON.parse(process.argv[2]!) as Appending
const agent = new Agent({ keepAlive: true, maxSockets: clients })
const times: number[] = []
let refused = 0
let sent = 0

function append(url: string): Promise<number> {
  const body = `${around[0]}{"n":${sent++},"at":"2026-11-21T10:00:00","place":"a place","value":1.5}${around[1]}`
  const more = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: 'POST', agent, headers: { ...headers, ...more } }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode!))
    })
    sending.on('error', reject).end(body)
  })
}

const begun = performance.now()
const one = async (url: string) => {
  while (performance.now() - begun < milliseconds) {
    const start = performance.now()
    const status = await append(url)
    if (status < 300) times.push(performance.now() - start)
    else refused++
  }
}
await Promise.all(Array.from({ length: clients }, (_, n) => one(urls[n % urls.length]!)))
const rate = (times.length / (performance.now() - begun)) * 1000
const p99 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN
console.log(JSON.stringify({ rate, p99, refused } satisfies Appended))
process.exit(0)
