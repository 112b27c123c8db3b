import { connect } from 'node:net'

/** The size and the times of an export. */
export interface Drained {
  readonly bytes: number
  readonly milliseconds: number
}

const END = Buffer.from('0\r\n\r\n')

/**
 * Asks for an export and discards it as cheaply as possible: one buffer and no parsing, because client and server share
 * the processor. Rejects if the status isn't 200 or the answer doesn't end with its last chunk.
 */
export function drain(url: string, authorization: string, coding = 'identity'): Promise<Drained> {
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
      `GET ${pathname}${search} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization}\r\nAccept-Encoding: ${coding}\r\nConnection: close\r\n\r\n`,
    )
  })
}

// Run as a program, this file takes a number of exports at the same time, again and again, until it is ended.
if (import.meta.main) {
  const [url, count, authorization] = process.argv.slice(2)
  for (let one = 0; one < Number(count); one++) {
    void (async () => {
      for (;;) await drain(url!, authorization!)
    })()
  }
}
