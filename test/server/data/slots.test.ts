import { expect, test } from 'vitest'
import { crowdedMessage, type Holder, Semaphore } from '../../../engine/util/semaphore.ts'

const [ada, bob, eve] = [1, 2, 3]
const { signal } = new AbortController()
const closed = () => new Error('closed')

/** Lets those enter who may at once. */
async function turn(): Promise<void> {
  for (let n = 0; n < 10; n++) await Promise.resolve()
}

/** Has holders wait for slots, each of which is given back at once; gives in which order they get one. */
async function orderOf(slots: Semaphore, holders: readonly Holder[], begin: () => void): Promise<Holder[]> {
  const order: Holder[] = []
  const entered = holders.map(async (holder) => {
    using _ = await slots.enter(holder, signal)
    order.push(holder)
  })
  begin()
  await Promise.all(entered)
  return order
}

test('a few accounts can not take all slots: some are reserved for those who have none', async () => {
  const slots = new Semaphore(8, { reserved: 2 })
  for (let n = 0; n < 3; n++) for (const account of [ada, bob]) await slots.enter(account, signal)
  const third = slots.enter(ada, signal)
  await turn()
  expect([slots.running, slots.queued]).toEqual([6, 1])
  await slots.enter(eve, signal)
  expect([slots.running, slots.queued]).toEqual([7, 1])
  slots.close(closed)
  await expect(third).rejects.toThrow('closed')
  await expect(slots.enter(eve)).rejects.toThrow('closed')
})

test('one account never has more than it may, and others are let in beside those of it that wait', async () => {
  const slots = new Semaphore(4, { perHolder: 2 })
  const [first] = [await slots.enter(ada), await slots.enter(ada)]
  const third = slots.enter(ada)
  await slots.enter(bob)
  expect([slots.running, slots.queued]).toEqual([3, 1])
  first![Symbol.dispose]()
  await third
  expect([slots.running, slots.queued]).toEqual([3, 0])
})

test("work that is nobody's takes any free slot", async () => {
  const slots = new Semaphore(4, { perHolder: 1, reserved: 2 })
  for (let n = 0; n < 4; n++) await slots.enter()
  expect(slots.running).toBe(4)
})

test('a free slot goes to the account that has the fewest, though others came before', async () => {
  const slots = new Semaphore(2)
  const taken = [await slots.enter(ada), await slots.enter(ada)]
  expect(await orderOf(slots, [ada, bob], () => taken[0]![Symbol.dispose]())).toEqual([bob, ada])
})

test('with one slot accounts take turns, however many requests of one wait', async () => {
  const slots = new Semaphore(1)
  const taken = await slots.enter(ada)
  const order = await orderOf(slots, [ada, ada, ada, bob, bob], () => taken[Symbol.dispose]())
  expect(order).toEqual([bob, ada, bob, ada, ada])
})

test('without accounts, the order is that in which they came', async () => {
  const slots = new Semaphore(1)
  const taken = await slots.enter()
  const came: number[] = []
  const entered = [1, 2, 3].map(async (number) => {
    using _ = await slots.enter()
    came.push(number)
  })
  taken[Symbol.dispose]()
  await Promise.all(entered)
  expect(came).toEqual([1, 2, 3])
})

test('at most half of those who wait are of one account', async () => {
  const slots = new Semaphore(1, { queue: 4, crowded: (crowd) => new Error(crowdedMessage('jobs', crowd)) })
  const taken = await slots.enter(ada)
  const waiting = [slots.enter(ada), slots.enter(ada), slots.enter(bob)]
  await expect(slots.enter(ada)).rejects.toThrow('Your account is running 1 job, the maximum at once.')
  waiting.push(slots.enter(eve))
  await expect(slots.enter(4)).rejects.toThrow('Too many jobs are running. Try again in a few seconds.')
  taken[Symbol.dispose]()
  await Promise.all(waiting.map(async (one) => (await one)[Symbol.dispose]()))
  expect([slots.running, slots.queued]).toEqual([0, 0])
})

test('who gives up waiting leaves its turn to others', async () => {
  const slots = new Semaphore(1, { wait: 1, crowded: () => new Error('too late') })
  const taken = await slots.enter(ada)
  await expect(slots.enter(ada)).rejects.toThrow('too late')
  const patient = new Semaphore(1)
  const first = await patient.enter(ada)
  const leaving = new AbortController()
  const left = patient.enter(bob, leaving.signal)
  const stays = patient.enter(bob)
  leaving.abort(new Error('left'))
  await expect(left).rejects.toThrow('left')
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  await stays
  expect([patient.running, patient.queued]).toEqual([1, 0])
  taken[Symbol.dispose]()
  expect(slots.running).toBe(0)
})
