import type { Duplex } from 'node:stream'
import { deserialize, serialize } from 'node:v8'

/** Before each message: how many bytes it has. */
const HEAD_BYTES = 4

/** Messages between two processes. Their form keeps undefined, NaN and bytes, which JSON would lose. */
export class Channel<Sent, Heard> {
  readonly #stream: Duplex
  /** What has come of the next message, and how many bytes it needs at least. */
  #pieces: Buffer[] = []
  #length = 0
  #needed = HEAD_BYTES

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
    this.#pieces.push(data)
    this.#length += data.length
    // A large message is put together once, not again with each of its pieces.
    while (this.#length >= this.#needed) {
      const all = Buffer.concat(this.#pieces)
      const end = HEAD_BYTES + all.readUInt32LE(0)
      const isWhole = all.length >= end
      const rest = isWhole ? all.subarray(end) : all
      this.#pieces = [rest]
      this.#length = rest.length
      this.#needed = isWhole ? HEAD_BYTES : end
      if (isWhole) hear(deserialize(all.subarray(HEAD_BYTES, end)))
    }
  }
}
