import { expect, test, vi } from 'vitest'
import { Commits } from '../../engine/store/commits.ts'
import { bytesOf, newDataset, openWorkplace } from '../engine/workplace.ts'

/** Takes slots of the ingests for these accounts, with `write` of a dataset to find them, until `end` is called. */
async function occupy(write: () => Promise<unknown>, accounts: readonly string[]) {
  const makeParts = vi.spyOn(Commits.prototype, 'makeParts')
  await write()
  const commits = makeParts.mock.contexts[0] as Commits
  makeParts.mockRestore()
  const gate = Promise.withResolvers<never>()
  gate.promise.catch(() => {})
  let begun = 0
  const long = accounts.map((by) =>
    commits.makeParts(
      async ({ verify }) => {
        await verify({} as never).catch(() => {})
        begun += 1
        return gate.promise
      },
      { by },
    ),
  )
  const failed = Promise.allSettled(long)
  await expect.poll(() => begun).toBe(accounts.length)
  return async () => {
    gate.reject(new Error('The end of the long uploads.'))
    await failed
  }
}

test('an account whose uploads take long keeps no upload of another from being read', async () => {
  await using place = await openWorkplace()
  const datasets = await Promise.all(Array.from({ length: 4 }, () => newDataset(place.engine)))
  const upload = (at: number, by: string) =>
    datasets[at]!.replace({ format: 'csv', body: bytesOf('a\n1\n'), by })
  const end = await occupy(() => upload(0, 'ann'), ['ann', 'ann'])
  let ended = 0
  const others = [0, 1].map((at) => upload(at, 'ann').finally(() => (ended += 1)))
  for (let turn = 0; turn < 3; turn++) expect((await upload(2, 'bob')).rowCount).toBe(1)
  // An upsert also writes the part anew that has the rows.
  await datasets[3]!.replace({ format: 'csv', body: bytesOf('k,v\n1,1\n2,1\n'), by: 'bob' })
  await datasets[3]!.upsert({ format: 'csv', body: bytesOf('k,v\n2,2\n'), on: ['k'], by: 'bob' })
  expect(ended).toBe(0)
  await end()
  expect((await Promise.all(others)).map(({ rowCount }) => rowCount)).toEqual([1, 1])
})

test('few rows wait for no upload that takes long', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  const rows = (text: string) => ({ format: 'csv' as const, body: Buffer.from(text), by: 'bob' })
  const end = await occupy(() => dataset.replace(rows('a\n1\n')), ['ann', 'ann', 'eve'])
  expect((await dataset.append(rows('a\n2\n'))).rowCount).toBe(2)
  const together = await Promise.all([3, 4, 5].map((a) => dataset.append(rows(`a\n${a}\n`))))
  expect(together.at(-1)!.rowCount).toBe(5)
  await end()
})
