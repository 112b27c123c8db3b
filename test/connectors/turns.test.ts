import { expect, test } from 'vitest'
import type { UpstreamAnswer } from '../../connectors/connector.ts'
import { type Exchange, limitConcurrency } from '../../connectors/pipeline/layers.ts'

const ANSWER = { status: 200, headers: {}, body: Buffer.alloc(0) } as unknown as UpstreamAnswer

test('accounts that share a key take turns, however many requests of one wait', async () => {
  const sent: string[] = []
  const first = Promise.withResolvers<void>()
  const send = limitConcurrency(
    1,
    60_000,
  )(async ({ account }) => {
    sent.push(account!)
    if (sent.length === 1) await first.promise
    return ANSWER
  })
  const shared = { allowance: {}, request: {}, signal: new AbortController().signal }
  const ask = (account: string) => send({ ...shared, account } as unknown as Exchange)
  const asked = ['ann', 'ann', 'ann', 'bob', 'eve', 'bob'].map(ask)
  first.resolve()
  await Promise.all(asked)
  expect(sent).toEqual(['ann', 'bob', 'eve', 'ann', 'bob', 'ann'])
})
