import { connect } from 'node:net'

/** The size and the times of an export. */
export interface Drained {
  readonly bytes: number
  readonly milliseconds: number
}

const END = Buffer.from('0\r\n\r\n')

/**
 * Asks for exports, one after another on one connection, and discards them as cheaply as possible: one buffer and no
 * parsing, because client and server share the processor. Rejects if a status isn't 200 or an answer doesn't end with
 * its last chunk.
 */
export function drain(urls: readonly string[], authorization: string, coding = 'identity'): Promise<Drained> {
  const start = performance.now()
  return new Promise((resolve, reject) => {
    let bytes = 0
    let status = ''
    let asked = 0
    const buffer = Buffer.allocUnsafe(512 << 10)
    const tail = Buffer.alloc(END.length)
    const socket = connect({
      host: '127.0.0.1',
      port: Number(new URL(urls[0]!).port),
      onread: {
        buffer,
        callback(length) {
          status ||= buffer.toString('latin1', 0, Math.min(length, 12))
          bytes += length
          const kept = Math.min(length, END.length)
          tail.copyWithin(0, kept)
          buffer.copy(tail, END.length - kept, length - kept, length)
          if (asked < urls.length && tail.equals(END) && status === 'HTTP/1.1 200') ask()
          return true
        },
      },
    })
    const ask = () => {
      const { pathname, search } = new URL(urls[asked++]!)
      status = ''
      tail.fill(0)
      const connection = asked < urls.length ? 'keep-alive' : 'close'
      socket.write(
        `GET ${pathname}${search} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization}\r\nAccept-Encoding: ${coding}\r\nConnection: ${connection}\r\n\r\n`,
      )
    }
    socket.on('error', reject)
    socket.on('close', () => {
      const url = urls[asked - 1]
      if (status !== 'HTTP/1.1 200') reject(new Error(`${url}: ${status}`))
      else if (asked < urls.length || !tail.equals(END))
        reject(new Error(`${url}: broke off after ${bytes} bytes`))
      else resolve({ bytes, milliseconds: performance.now() - start })
    })
    ask()
  })
}

// Run as a program, this file takes a number of exports at the same time, again and again, until it is ended.
if (import.meta.main) {
  const [url, count, authorization] = process.argv.slice(2)
  for (let one = 0; one < Number(count); one++) {
    void (async () => {
      for (;;) await drain([url!], authorization!)
    })()
  }
}
