import type { Duplex } from 'node:stream'
import { deserialize, serialize } from 'node:v8'

/** Before each message: how many bytes it has. */
const HEAD_BYTES = 4

/** Messages between two processes. Their form keeps undefined, NaN and bytes, which JSON would lose. */
export class Channel<Sent, Heard> {
  readonly #stream: Duplex
  #rest: Buffer = Buffer.alloc(0)

  constructor(stream: Duplex, hear: (message: Heard) => void) {
    this.#stream = stream
    // The other process may be gone at any moment; then the stream closes.
    stream.on('error', () => {})
    stream.on('data', (data: Buffer) => this.#take(data, hear))
  }

  /** Nothing is sent if the other process is gone. */
  send(message: Sent): void {
    if (!this.#stream.writable) return
    const bytes = serialize(message)
    const head = Buffer.alloc(HEAD_BYTES)
    head.writeUInt32LE(bytes.length)
    this.#stream.write(Buffer.concat([head, bytes]))
  }

  #take(data: Buffer, hear: (message: Heard) => void): void {
    let rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, data]) : data
    while (rest.length >= HEAD_BYTES && rest.length >= HEAD_BYTES + rest.readUInt32LE(0)) {
      const end = HEAD_BYTES + rest.readUInt32LE(0)
      const message = rest.subarray(HEAD_BYTES, end)
      rest = rest.subarray(end)
      hear(deserialize(message))
    }
    this.#rest = rest
  }
}
