import { expect, test, vi } from 'vitest'
import { Commits } from '../../engine/store/commits.ts'
import { bytesOf, newDataset, openWorkplace } from '../engine/workplace.ts'

test('an account whose uploads take long keeps no upload of another from being read', async () => {
  await using place = await openWorkplace()
  const makeParts = vi.spyOn(Commits.prototype, 'makeParts')
  const datasets = await Promise.all(Array.from({ length: 4 }, () => newDataset(place.engine)))
  const upload = (at: number, by: string) =>
    datasets[at]!.replace({ format: 'csv', body: bytesOf('a\n1\n'), by })
  await upload(0, 'ann')
  const commits = makeParts.mock.contexts[0] as Commits
  makeParts.mockRestore()

  const gate = Promise.withResolvers<never>()
  gate.promise.catch(() => {})
  let begun = 0
  const long = Array.from({ length: 2 }, () =>
    commits.makeParts(
      () => {
        begun += 1
        return gate.promise
      },
      { by: 'ann' },
    ),
  )
  const failed = Promise.allSettled(long)
  await expect.poll(() => begun).toBe(2)
  let ended = 0
  const others = [0, 1].map((at) => upload(at, 'ann').finally(() => (ended += 1)))
  for (let turn = 0; turn < 3; turn++) expect((await upload(2, 'bob')).rowCount).toBe(1)
  // An upsert also writes the part anew that has the rows.
  await datasets[3]!.replace({ format: 'csv', body: bytesOf('k,v\n1,1\n2,1\n'), by: 'bob' })
  await datasets[3]!.upsert({ format: 'csv', body: bytesOf('k,v\n2,2\n'), on: ['k'], by: 'bob' })
  expect(ended).toBe(0)
  gate.reject(new Error('The end of the long uploads.'))
  await failed
  expect((await Promise.all(others)).map(({ rowCount }) => rowCount)).toEqual([1, 1])
})
