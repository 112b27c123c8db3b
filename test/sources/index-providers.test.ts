import { expect, it } from 'vitest'
import { ConnectorError } from '../../connectors/index.ts'
import { indexProviders } from '../../server/providers.ts'

/** Fills the index of providers that answer as they are told to; gives which were asked, and what was logged. */
async function filled(outcomes: Readonly<Record<string, 'there' | ConnectorError | Error>>) {
  const asked: string[] = []
  const logged: unknown[] = []
  const left = new Set(Object.keys(outcomes))
  const connectors = {
    unindexed: () => [...left],
    async index(slug: string) {
      asked.push(slug)
      const outcome = outcomes[slug]
      if (outcome !== 'there') throw outcome
      left.delete(slug)
      return 1
    },
  }
  const done = Promise.withResolvers<void>()
  const log = (fields: object) => {
    logged.push(fields)
    done.resolve()
  }
  const stop = indexProviders(async () => connectors, { info: log, warn: log }, 0)
  await done.promise
  await stop()
  return { asked, logged }
}

const down = new ConnectorError('provider_down', 'It can not be reached.')
const limited = new ConnectorError('provider_limit', 'Not so often.')

it('asks each provider, and names those that gave nothing in one line', async () => {
  expect(await filled({ a: 'there', b: down, c: down, d: limited, e: down, f: 'there' })).toEqual({
    asked: ['a', 'b', 'c', 'd', 'e', 'f'],
    logged: [{ providers: ['b', 'c', 'd', 'e'] }],
  })
})

it('asks no more after three in a row that can not be reached', async () => {
  const { asked, logged } = await filled({ a: down, b: down, c: down, d: 'there' })
  expect(asked).toEqual(['a', 'b', 'c'])
  expect(logged).toEqual([{ providers: ['a', 'b', 'c', 'd'] }])
})

it('logs a defect', async () => {
  const defect = new Error('a defect')
  expect((await filled({ a: defect, b: 'there' })).logged).toEqual([{ err: defect }])
})
