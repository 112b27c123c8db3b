/**
 * Does the worst that one account can: joins that never end, exports that sort and group wide rows, uploads, and clients
 * that hardly read. Run by hostile.ts in a process of its own, until a message comes; then it tells how its requests ended.
 */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** After that, a request is given up, and sent again. */
const PATIENCE_MS = 20_000
const PARQUET = 'application/vnd.apache.parquet'
const JOIN = 'SELECT count(*) FROM hostile.rows a JOIN hostile.rows b ON a.n0 < b.n1 AND a.s0 <> b.s1'

const [url, key, id, file] = process.argv.slice(2) as [string, string, string, string]
const authorization = `Basic ${btoa(`${key}:`)}`
const rows = `/datasets/${id}/data`
const apply = (text: string) => `${rows}?$apply=${encodeURIComponent(text)}`
const wide = readFileSync(file)
const answers = new Map<string, number>()
const ending = new AbortController()

process.once('message', () => ending.abort())
// Whoever started it is gone.
process.once('disconnect', () => process.exit(1))
await Promise.all([
  ...again(6, whole('POST', '/sql', JOIN, 'text/plain')),
  ...again(4, slowly(`/sql?q=${encodeURIComponent('SELECT * FROM hostile.rows')}`)),
  ...again(
    4,
    whole('GET', apply('concat(identity,filter(n0 gt 5))/concat(identity,filter(n1 gt 5))/orderby(s0)')),
  ),
  ...again(4, whole('GET', apply('groupby((s0,s1,s2,s3),aggregate(d0 with sum as x,s5 with max as y))'))),
  ...again(2, whole('GET', `${rows}?$format=xlsx&$orderby=s3`)),
  ...again(4, slowly(rows)),
  ...again(3, whole('PUT', rows, wide, PARQUET)),
])
process.send!(Object.fromEntries(answers), () => process.exit(0))

/** Sends a request again and again, so many at once. */
function again(count: number, request: (until: AbortSignal) => Promise<string>): Promise<void>[] {
  return Array.from({ length: count }, async () => {
    while (!ending.signal.aborted) {
      const until = AbortSignal.any([ending.signal, AbortSignal.timeout(PATIENCE_MS)])
      const ended = await request(until).catch(() => 'given up')
      answers.set(ended, (answers.get(ended) ?? 0) + 1)
      // Who is refused at once would only measure how fast it is refused.
      if (ended !== '200') await sleep(100)
    }
  })
}

function whole(method: string, path: string, body?: string | Buffer<ArrayBuffer>, type = '') {
  return async (signal: AbortSignal) => {
    const headers = { authorization, ...(body && { 'content-type': type }) }
    const answer = await fetch(url + path, { method, headers, signal, ...(body && { body }) })
    for await (const _ of answer.body ?? []);
    return String(answer.status)
  }
}

/** Reads about 2 KB a second. */
function slowly(path: string) {
  return (until: AbortSignal) =>
    new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      const timer = setInterval(() => socket.read(2_048), 1_000)
      socket.pause()
      socket.on('error', () => {})
      socket.once('close', () => {
        clearInterval(timer)
        resolve('read slowly')
      })
      until.addEventListener('abort', () => socket.destroy())
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`)
    })
}
