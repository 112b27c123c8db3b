import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Background } from '../../engine/util/concurrency.ts'

const failed = (error: unknown) => {
  throw error
}

test('work that is asked for again while it waits or runs is run once more, however often', async () => {
  const background = new Background(
    () => true,
    (work) => work(),
  )
  const begun = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  let runs = 0
  const work = async () => {
    runs += 1
    begun.resolve()
    await released.promise
  }
  background.laterOnce(work, failed)
  await begun.promise
  for (let time = 0; time < 10; time++) background.laterOnce(work, failed)
  released.resolve()
  await background.settled()
  expect(runs).toBe(2)
  background.laterOnce(work, failed)
  await background.settled()
  expect(runs).toBe(3)
})

test('work that was not possible is done when it is asked for again', async () => {
  let possible = false
  const background = new Background(
    () => possible,
    (work) => work(),
  )
  let runs = 0
  const work = () => {
    runs += 1
  }
  background.laterOnce(work, failed)
  await background.settled()
  possible = true
  background.laterOnce(work, failed)
  await background.settled()
  expect(runs).toBe(1)
})

test('work that many ask for in a row is done once, and at once if somebody waits for it', async () => {
  const background = new Background(
    () => true,
    (work) => work(),
  )
  let runs = 0
  const work = () => {
    runs += 1
  }
  for (let time = 0; time < 10; time++) {
    background.laterOnce(work, failed)
    await nextTurn()
  }
  await background.settled()
  expect(runs).toBeLessThan(5)
})
