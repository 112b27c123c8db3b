import { connect } from 'node:net'
import type { Ask } from './ask.ts'

export interface Downloaded {
  readonly status: number
  /** Milliseconds until the first byte after the head, and until the last. */
  readonly first: number
  readonly last: number
}

const SPACE = Buffer.allocUnsafe(1 << 20)
const HEAD_END = '\r\n\r\n'
const LAST_CHUNK = '0\r\n\r\n'

/**
 * Asks for a large answer, on a connection of its own, and passes over its bytes. Server and client share the
 * processor: Node's HTTP client takes as long to hand out an answer of 160 MB as a server takes to write it, so the
 * figure would be half its own. Rejects if no complete answer arrives.
 */
export function download(port: number, { method, path, headers, body = '' }: Ask): Promise<Downloaded> {
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    connection: 'close',
    'content-length': Buffer.byteLength(body),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  const start = performance.now()
  return new Promise((resolve, reject) => {
    let head = ''
    let first = 0
    let left = Number.POSITIVE_INFINITY
    let tail = ''
    const take = (length: number) => {
      let bytes = length
      if (!head.includes(HEAD_END)) {
        head += SPACE.toString('latin1', 0, length)
        const end = head.indexOf(HEAD_END)
        if (end < 0) return true
        bytes = head.length - end - HEAD_END.length
        head = head.slice(0, end + HEAD_END.length)
        left = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? left)
      }
      if (bytes > 0) first ||= performance.now() - start
      left -= bytes
      tail = (tail + SPACE.toString('latin1', Math.max(0, length - LAST_CHUNK.length), length)).slice(
        -LAST_CHUNK.length,
      )
      return true
    }
    const socket = connect({ host: '127.0.0.1', port, onread: { buffer: SPACE, callback: take } })
    socket.on('error', reject)
    socket.on('end', () => {
      if (left === 0 || tail === LAST_CHUNK) {
        resolve({ status: Number(head.split(' ', 2)[1]), first, last: performance.now() - start })
      } else reject(new Error(`${path}: the answer broke off`))
    })
    socket.resume()
    socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
  })
}
