import { expect, test } from 'vitest'
import { Gate } from '../../../server/transfers/transfer.ts'

const [ada, bob, eve] = [1, 2, 3]
const { signal } = new AbortController()
const open = (places: number) =>
  new Gate('transfers', { places, placesPerAccount: 8, queue: 8, wait: 60_000 })

/** Lets those enter who may at once. */
async function turn(): Promise<void> {
  for (let n = 0; n < 10; n++) await Promise.resolve()
}

test('a few accounts can not take all places: some are kept for those who have none', async () => {
  const gate = open(8)
  for (let n = 0; n < 3; n++) for (const account of [ada, bob]) await gate.enter(account!, signal)
  const third = gate.enter(ada!, signal)
  await turn()
  expect([gate.running, gate.queued]).toEqual([6, 1])
  await gate.enter(eve!, signal)
  expect([gate.running, gate.queued]).toEqual([7, 1])
  gate.close()
  await expect(third).rejects.toMatchObject({ code: 'shutting_down' })
})

test('a free place goes to the account that has the fewest, though others came before', async () => {
  const gate = open(2)
  const places = [await gate.enter(ada!, signal), await gate.enter(ada!, signal)]
  const order: string[] = []
  const waiting = [
    gate.enter(ada!, signal).then(() => order.push('ada')),
    gate.enter(bob!, signal).then(() => order.push('bob')),
  ]
  places[0]![Symbol.dispose]()
  await turn()
  expect(order).toEqual(['bob'])
  places[1]![Symbol.dispose]()
  await Promise.all(waiting)
  expect(order).toEqual(['bob', 'ada'])
})
