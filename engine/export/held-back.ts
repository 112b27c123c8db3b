import type { ByteStream } from './deliver.ts'

/** A stream whose last bytes wait for `whole`, and whose errors are passed through `readable`. */
export function delivered(
  stream: ByteStream,
  whole: Promise<void> | undefined,
  readable: (error: unknown) => unknown,
): ByteStream {
  return {
    rows: () => stream.rows(),
    size: stream.size,
    coding: stream.coding,
    recycle: (bytes) => stream.recycle(bytes),
    [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose](),
    async *[Symbol.asyncIterator]() {
      try {
        yield* heldBack(stream, whole)
      } catch (error) {
        throw readable(error)
      }
    },
  }
}

/** The same items; if there is something to wait for, the last of them is given when it resolves, and not if it rejects. */
export async function* heldBack<Item>(
  items: AsyncIterable<Item>,
  whole: Promise<void> | undefined,
): AsyncGenerator<Item, void, undefined> {
  if (!whole) return yield* items
  const held: Item[] = []
  for await (const item of items) {
    held.push(item)
    if (held.length > 1) yield held.shift()!
  }
  await whole
  yield* held
}
