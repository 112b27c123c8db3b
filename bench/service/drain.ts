import { connect } from 'node:net'

/** What an export was. */
export interface Drained {
  readonly bytes: number
  readonly milliseconds: number
}

const END = Buffer.from('0\r\n\r\n')

/**
 * Asks for an export and throws it away as cheaply as can be: one buffer, no parsing, so that the client takes little
 * of the processor that it shares with the server. Rejects where the answer isn't 200, or doesn't end with its last chunk.
 */
export function drain(url: string, authorization: string): Promise<Drained> {
  const { port, pathname, search } = new URL(url)
  const start = performance.now()
  return new Promise((resolve, reject) => {
    let bytes = 0
    let status = ''
    const buffer = Buffer.allocUnsafe(512 << 10)
    const tail = Buffer.alloc(END.length)
    const socket = connect({
      host: '127.0.0.1',
      port: Number(port),
      onread: {
        buffer,
        callback(length) {
          if (bytes === 0) status = buffer.toString('latin1', 0, Math.min(length, 12))
          bytes += length
          const kept = Math.min(length, END.length)
          tail.copyWithin(0, kept)
          buffer.copy(tail, END.length - kept, length - kept, length)
          return true
        },
      },
    })
    socket.on('error', reject)
    socket.on('close', () => {
      if (status !== 'HTTP/1.1 200') reject(new Error(`${url}: ${status}`))
      else if (!tail.equals(END)) reject(new Error(`${url}: broke off after ${bytes} bytes`))
      else resolve({ bytes, milliseconds: performance.now() - start })
    })
    socket.write(
      `GET ${pathname}${search} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`,
    )
  })
}

// As a program: so many at once, again and again, until it is ended.
if (import.meta.main) {
  const [url, count, authorization] = process.argv.slice(2)
  for (let one = 0; one < Number(count); one++) {
    void (async () => {
      for (;;) await drain(url!, authorization!)
    })()
  }
}
