import type { Readable } from 'node:stream'

/** Before each piece of bytes: how many bytes it has, and how many rows have been sent with it. A piece of none is the end. */
const HEAD_BYTES = 12

export function headOf(bytes: number, rows: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(bytes)
  head.writeDoubleLE(rows, 4)
  return head
}

/** Each pipe is read by one iterator, because the end of another one would close the pipe. */
const chunksOf = new WeakMap<Readable, AsyncIterator<Buffer>>()

/** The pieces that come through a pipe, up to the end mark. @throws if the pipe is closed before */
export async function* framesOf(
  pipe: Readable,
): AsyncGenerator<{ bytes: Buffer; rows: number }, void, undefined> {
  const chunks = chunksOf.get(pipe) ?? (pipe[Symbol.asyncIterator]() as AsyncIterator<Buffer>)
  chunksOf.set(pipe, chunks)
  let rest: Buffer = Buffer.alloc(0)
  async function take(bytes: number): Promise<Buffer> {
    const taken = [rest]
    for (let length = rest.length; length < bytes; length += rest.length) {
      const next = await chunks.next()
      if (next.done) throw new Error('The process has closed its pipe.')
      rest = next.value
      taken.push(rest)
    }
    const whole = taken.length > 1 ? Buffer.concat(taken) : rest
    rest = whole.subarray(bytes)
    return whole.subarray(0, bytes)
  }
  for (;;) {
    const head = await take(HEAD_BYTES)
    const length = head.readUInt32LE(0)
    if (length === 0) return
    yield { bytes: await take(length), rows: head.readDoubleLE(4) }
  }
}
