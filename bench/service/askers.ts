import { connect, type Socket } from 'node:net'

/**
 * Connections that ask one question after another, until they are disposed. They look only for the end of each answer,
 * so that they take little of the processor.
 */
export class Askers implements Disposable {
  #answered = 0
  /** Rejects when an answer is not 200 or a connection breaks. */
  readonly failed: Promise<never>
  readonly #fail: (error: Error) => void
  readonly #sockets: Socket[] = []
  readonly #key: string

  /** @param path gives the path of each request */
  constructor(urls: readonly string[], connections: number, key: string, path: () => string) {
    const failed = Promise.withResolvers<never>()
    this.failed = failed.promise
    this.#fail = failed.reject
    this.failed.catch(() => {})
    this.#key = btoa(`${key}:`)
    for (const url of urls) for (let n = 0; n < connections; n++) this.#open(new URL(url), path)
  }

  /** How many requests have been answered. */
  get answered(): number {
    return this.#answered
  }

  #open({ hostname, port, host }: URL, path: () => string): void {
    const socket = connect(Number(port), hostname)
    this.#sockets.push(socket)
    const ask = () =>
      socket.write(`GET ${path()} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Basic ${this.#key}\r\n\r\n`)
    /** The head of an answer as far as it has come; undefined while its body comes. */
    let head: string | undefined = ''
    /** Bytes of the body that are still to come; undefined if it comes in chunks. */
    let left: number | undefined
    /** The last bytes of an answer in chunks: its end may come in two pieces. */
    let tail: Buffer = Buffer.alloc(0)
    socket.on('connect', ask)
    socket.on('error', this.#fail)
    socket.on('close', () => this.#fail(new Error(`${host} closed a connection`)))
    socket.on('data', (data) => {
      let body = data.byteLength
      if (head !== undefined) {
        head += data.toString('latin1')
        const end = head.indexOf('\r\n\r\n')
        if (end < 0) return
        body = head.length - end - 4
        if (!head.startsWith('HTTP/1.1 200')) return this.#fail(new Error(head))
        const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
        left = length === undefined ? undefined : Number(length)
        head = undefined
      }
      if (left !== undefined) left -= body
      else tail = Buffer.concat([tail, data]).subarray(-LAST_CHUNK.length)
      if (left === undefined ? !tail.equals(LAST_CHUNK) : left > 0) return
      head = ''
      this.#answered += 1
      ask()
    })
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) {
      socket.removeAllListeners('close')
      socket.destroy()
    }
  }
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n')
