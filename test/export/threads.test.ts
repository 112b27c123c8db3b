import type { Worker } from 'node:worker_threads'
import { afterAll, expect, test } from 'vitest'
import { WorkerPool } from '../../engine/export/dispatch.ts'
import type { Recipe } from '../../engine/export/encode.ts'

const pool = new WorkerPool(1)
afterAll(() => pool.close())

const recipe: Recipe = { format: 'csv', columns: [{ name: 'n', type: 'integer' }], options: {} }

/** A chunk of one column of integers, all of them `n`. */
function chunk(n: number, rows: number) {
  const numbers = new BigInt64Array(rows + 1).fill(BigInt(n))
  const { buffer } = numbers
  const vector = {
    validity: undefined,
    offsets: new Int32Array(0),
    bytes: new Uint8Array(buffer),
    view: new DataView(buffer),
    words: new Int32Array(buffer),
    doubles: new Float64Array(buffer),
  }
  return { kind: 'batch', rows, batch: { rows, vectors: [vector] } } as const
}

const encode = (id: number, of: Recipe, one: ReturnType<typeof chunk>) =>
  pool.run(id, of, { kind: 'encode', chunks: [one], first: 0 }).piece

test('if an encoding thread dies, the job that it did fails, and those that waited are done by another', async () => {
  const threads: Worker[] = []
  const onWorker = (worker: Worker) => threads.push(worker)
  process.on('worker', onWorker)
  await encode(1, recipe, chunk(0, 1))
  const chunks = Array.from({ length: 8 }, (_, n) => chunk(n, 200_000))
  const settled = Promise.allSettled(chunks.map((one) => encode(1, recipe, one)))
  await threads[0]!.terminate()
  process.off('worker', onWorker)
  const outcomes = await settled
  const failed = outcomes.filter(({ status }) => status === 'rejected')
  expect(failed.length).toBeLessThanOrEqual(1)
  expect(threads).toHaveLength(2)
  for (const [n, outcome] of outcomes.entries()) {
    if (outcome.status === 'rejected') continue
    expect(outcome.value.rows).toBe(200_000)
    expect(Buffer.from(outcome.value.bytes.subarray(0, 6)).toString()).toContain(`${n}\n${n}\n`)
  }
})

test('an encoder that can not be opened fails its jobs, and the thread goes on', async () => {
  const unknown = { ...recipe, format: 'nothing' } as unknown as Recipe
  await expect(encode(2, unknown, chunk(1, 1))).rejects.toThrow()
  expect((await encode(3, recipe, chunk(1, 1))).rows).toBe(1)
})
