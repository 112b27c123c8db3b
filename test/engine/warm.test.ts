import { expect, test } from 'vitest'
import { bytesOf, newDataset, openWorkplace } from './workplace.ts'

test('an engine that was warmed has its threads, and answers as others do', async () => {
  await using place = await openWorkplace()
  expect((await place.engine.stats()).executor).toBeUndefined()
  await place.engine.warm()
  expect((await place.engine.stats()).executor).toMatchObject({ statements: 0, exports: 0 })
  const dataset = await newDataset(place.engine)
  await dataset.replace({ body: bytesOf('a\n1\n'), format: 'csv' })
  using query = await dataset.query()
  expect(Buffer.concat(await Array.fromAsync(await query.bytes('csv'))).toString()).toBe('a\n1\n')
})

test('warming an engine that is closed, or being closed, fails nobody', async () => {
  const place = await openWorkplace()
  const warming = place.engine.warm()
  await place[Symbol.asyncDispose]()
  await warming
  await place.engine.warm()
})
