import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** One HTTP request with everything that the client must send. */
export interface Ask {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Length of the body as it was sent over the network. */
  readonly bytes: number
  /** The body, if `keep` was set. */
  readonly text: string
  /** Milliseconds until the body's first byte, and until its last. */
  readonly first: number
  readonly last: number
}

const agent = new Agent({ keepAlive: true, maxSockets: 256 })

/** Sends a request on a connection that stays open. Rejects if no complete answer arrives. */
export function ask(port: number, question: Ask, keep = false): Promise<Answer> {
  const { method, path, headers, body } = question
  const start = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, agent, headers }, (answer) => {
      let bytes = 0
      let first = 0
      const kept: Buffer[] = []
      answer.on('data', (chunk: Buffer) => {
        first ||= performance.now() - start
        bytes += chunk.length
        if (keep) kept.push(chunk)
      })
      answer.on('error', reject)
      answer.on('end', () =>
        resolve({
          status: answer.statusCode!,
          headers: answer.headers,
          bytes,
          text: Buffer.concat(kept).toString(),
          first,
          last: performance.now() - start,
        }),
      )
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // A server may close an idle connection in the moment in which the client uses it again. For this case Node's
      // documentation of `request.reusedSocket` says to send the request once more.
      if (sent.reusedSocket && error.code === 'ECONNRESET') resolve(ask(port, question, keep))
      else reject(error)
    })
    sent.end(body)
  })
}

// Run as a program, this file asks over a number of connections for a number of seconds; each connection asks again as
// soon as it has its answer. It prints the number of answers and how long they took. It runs in a process of its own so
// that its work doesn't slow down the process that measures.
if (import.meta.main) {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  const { port, asks, connections, seconds } = JSON.parse(Buffer.concat(chunks).toString()) as Burst
  const end = performance.now() + seconds * 1_000
  const times: number[] = []
  let next = 0
  let refused = 0
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < end) {
        const answer = await ask(port, asks[next++ % asks.length]!)
        if (answer.status === 503 || answer.status === 408) {
          // The server says that there are too many requests or that the request came too slowly. The client tries
          // again, as these statuses ask.
          refused += 1
          await sleep(50)
          continue
        }
        if (answer.status >= 400) throw new Error(`${asks[0]!.path}: status ${answer.status}`)
        times.push(answer.last)
      }
    }),
  )
  times.sort((a, b) => a - b)
  const middle = times[times.length >> 1]!
  const slow = times[Math.floor(times.length * 0.99)]!
  console.log(JSON.stringify({ answers: times.length, refused, median: middle, p99: slow }))
  process.exit(0)
}

/** The input of the program above, read from its standard input. */
export interface Burst {
  readonly port: number
  readonly asks: readonly Ask[]
  readonly connections: number
  readonly seconds: number
}
