import { OData } from '@odata/client'
import { expect, test } from 'vitest'
import { dataset, platform } from '../server/platform.ts'

test('a client from npm reads rows, counts, filters and finds one by its key', async () => {
  await using at = await platform()
  const key = await at.account('ada')
  const rows = Array.from({ length: 50 }, (_, index) => `${index + 1},w${index % 7}`)
  const { repository } = await dataset(at, key, { name: 'numbers', csv: `n,word\n${rows.join('\n')}\n` })
  const serviceEndpoint = `${await at.listen()}/repositories/${repository}/odata/`
  const client = OData.New4({ serviceEndpoint, credential: { username: key, password: 'any' } })
  const numbers = client.getEntitySet<{ Row: number; n: number; word: string }>('numbers')
  expect(await numbers.query()).toHaveLength(50)
  expect(await numbers.count()).toBe(50)
  expect(await numbers.retrieve(17)).toMatchObject({ Row: 17, n: 17, word: 'w2' })
  const filter = client.newFilter().property('n').gt(40).property('word').eq('w0')
  expect((await numbers.query(filter)).map((row) => row.n)).toEqual([43, 50])
  const params = client.newParam().orderby('n', 'desc').top(2).select('n')
  const found = await client.newRequest<{ n: number }>({ collection: 'numbers', params })
  expect(found.value).toEqual([{ n: 50 }, { n: 49 }])
})
