import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ByteStream } from '../../../engine/export/byte-stream.ts'
import { Spools } from '../../../server/transfers/spool.ts'

const PIECE = 2 ** 19
/** What waits in memory; all else is in files. */
const IN_MEMORY = 2

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'parquetry-spool-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

/** A stream of pieces, each of one row and filled with its number, and how many were made of it. */
function source(count: number, failure?: Error) {
  const made = { pieces: 0, closed: false }
  async function* bytes() {
    while (made.pieces < count) {
      made.pieces += 1
      yield Buffer.alloc(PIECE, made.pieces)
    }
    if (failure) throw failure
  }
  const close = async () => {
    made.closed = true
  }
  return { made, stream: new ByteStream(bytes(), { rows: () => made.pieces, close }) }
}

/** The next piece, by its number; undefined at the end. */
async function next(pieces: AsyncIterator<Uint8Array>): Promise<number | undefined> {
  const { done, value } = await pieces.next()
  if (done) return undefined
  expect(Buffer.alloc(PIECE, value[0]).equals(value)).toBe(true)
  return value[0]
}

const numbers = (last: number) => Array.from({ length: last }, (_, at) => at + 1)

test('a stream is read to its end before its reader takes anything, where there is room', async () => {
  const spools = new Spools(directory, 4 * PIECE)
  const { made, stream } = source(IN_MEMORY + 4)
  await using spooled = spools.spool(stream)
  await expect.poll(() => [made.closed, spools.room]).toEqual([true, 0])
  expect(readdirSync(directory)).toHaveLength(1)
  const pieces = spooled[Symbol.asyncIterator]()
  for (const number of numbers(IN_MEMORY + 4)) {
    expect([await next(pieces), spooled.rows()]).toEqual([number, number])
  }
  expect(await next(pieces)).toBeUndefined()
  expect([spools.room, readdirSync(directory)]).toEqual([4 * PIECE, []])
})

test('room is used again once the reader has taken all that the file held, so that it has any length', async () => {
  const spools = new Spools(directory, 3 * PIECE)
  const { made, stream } = source(50)
  await using spooled = spools.spool(stream)
  const pieces = spooled[Symbol.asyncIterator]()
  const ahead: number[] = []
  for (const number of numbers(50)) {
    // Until it has filled the file again, of which some rows may still wait.
    if (number < 40) await expect.poll(() => spools.room, { interval: 1 }).toBe(0)
    expect(await next(pieces)).toBe(number)
    ahead.push(made.pieces - number)
  }
  // One piece more waits for room itself.
  expect(Math.max(...ahead)).toBeLessThanOrEqual(IN_MEMORY + 3 + 1)
  expect(Math.max(...ahead.slice(20))).toBeGreaterThan(IN_MEMORY + 1)
  expect(await next(pieces)).toBeUndefined()
  expect([spools.room, readdirSync(directory)]).toEqual([3 * PIECE, []])
})

test('a stream that fails gives what came before, and then its error', async () => {
  const spools = new Spools(directory, PIECE)
  const { stream } = source(3, new Error('the disk is gone'))
  await using spooled = spools.spool(stream)
  const pieces = spooled[Symbol.asyncIterator]()
  for (const number of numbers(3)) expect(await next(pieces)).toBe(number)
  await expect(next(pieces)).rejects.toThrow('the disk is gone')
  expect([spools.room, readdirSync(directory)]).toEqual([PIECE, []])
})

test('who leaves early gives the room back, and ends what makes the stream', async () => {
  const spools = new Spools(directory, 2 * PIECE)
  const { made, stream } = source(1_000)
  {
    await using spooled = spools.spool(stream)
    await expect.poll(() => spools.room).toBe(0)
    expect(await next(spooled[Symbol.asyncIterator]())).toBe(1)
  }
  expect(made).toEqual({ pieces: expect.any(Number), closed: true })
  expect(made.pieces).toBeLessThan(10)
  expect([spools.room, readdirSync(directory)]).toEqual([2 * PIECE, []])
})

test('without a folder to write in, what waits is in memory, as without room', async () => {
  const spools = new Spools(join(directory, 'missing'), 9 * PIECE)
  const { stream } = source(9)
  await using spooled = spools.spool(stream)
  const pieces = spooled[Symbol.asyncIterator]()
  for (const number of numbers(9)) expect(await next(pieces)).toBe(number)
  expect(await next(pieces)).toBeUndefined()
})
