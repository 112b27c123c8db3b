import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NO_LIMITS, type Platform, platform } from '../platform.ts'

let at: Platform
let ada: string
let repositoryId: number
beforeAll(async () => {
  at = await platform({
    config: {
      plans: { free: { ...NO_LIMITS, privateRepositories: 1, datasets: 2, columns: 3, storedBytes: 20_000 } },
    },
  })
  ada = await at.account('ada', 'free')
  repositoryId = (
    await at.call(ada, 'POST', '/repositories', { json: { name: 'small', private: false } })
  ).json().id
})
afterAll(() => at[Symbol.asyncDispose]())

const create = (name: string, columns?: unknown[]) =>
  at.call(ada, 'POST', '/datasets', { json: { name, repositoryId, ...(columns && { columns }) } })
const upload = (method: 'PUT' | 'POST', id: number, body: string) =>
  at.call(ada, method, `/datasets/${id}/data`, { body, headers: { 'content-type': 'text/csv' } })
const refusal = (response: { statusCode: number; json(): { error: string } }) =>
  `${response.statusCode} ${response.json().error}`

/** Numbers that no codec makes small. */
const noise = (rows: number) =>
  Array.from({ length: rows }, (_, i) => `${i},${Math.floor(Math.sin(i + 1) * 1e15)}`).join('\n')

describe('a plan limits', () => {
  it('the columns of a dataset, declared and uploaded', async () => {
    const four = ['a', 'b', 'c', 'd'].map((name) => ({ name, type: 'string' }))
    expect(refusal(await create('wide', four))).toMatch(/^402 The limit of columns .* allows 3 in a dataset/)
    const { id } = (await create('narrow')).json()
    const declared = await at.call(ada, 'PUT', `/datasets/${id}/columns`, { json: { columns: four } })
    expect(declared.statusCode).toBe(402)
    expect(refusal(await upload('PUT', id, 'a,b,c,d\n1,2,3,4\n'))).toMatch(/^402 The limit of columns/)
    expect((await at.call(ada, 'GET', `/datasets/${id}`)).json()).toMatchObject({ version: 0, rowCount: 0 })
    expect((await upload('PUT', id, 'a,b\n1,2\n')).statusCode).toBe(200)
  })

  it('the bytes of all datasets of the owner, whoever uploads', async () => {
    const { id } = (await at.call(ada, 'GET', '/datasets')).json()[0]
    const refused = await upload('PUT', id, `a,b\n${noise(20_000)}\n`)
    expect(refusal(refused)).toMatch(
      /^402 The limit of stored bytes .* allows 20000, and this change would bring them to/,
    )
    expect((await at.call(ada, 'GET', `/datasets/${id}`)).json().rowCount).toBe(1)
    await at.call(ada, 'PUT', `/repositories/${repositoryId}/members/root`, { json: { permission: 'Write' } })
    const byRoot = await at.call(at.root, 'PUT', `/datasets/${id}/data`, {
      body: `a,b\n${noise(20_000)}\n`,
      headers: { 'content-type': 'text/csv' },
    })
    expect(byRoot.statusCode).toBe(402)
    expect((await upload('POST', id, 'a,b\n3,4\n')).statusCode).toBe(200)
  })

  it('the datasets of the owner, until one is deleted', async () => {
    expect((await create('second')).statusCode).toBe(201)
    const third = await create('third')
    expect(refusal(third)).toBe(
      '402 The limit of datasets is reached: the plan free of account ada allows 2.',
    )
    const [{ id }] = (await at.call(ada, 'GET', '/datasets')).json()
    await at.call(ada, 'DELETE', `/datasets/${id}`)
    expect((await create('third')).statusCode).toBe(201)
  })
})

describe('GET /datasets', () => {
  it('gives the columns of narrow tables, the number of those of wide ones, and all when asked', async () => {
    const wide = Array.from({ length: 500 }, (_, i) => ({ name: `column ${i}`, type: 'integer' }))
    const home = (
      await at.call(at.root, 'POST', '/repositories', { json: { name: 'own', private: false } })
    ).json().id
    for (const [name, columns] of [
      ['wide', wide],
      ['narrow', wide.slice(0, 2)],
    ] as const) {
      await at.call(at.root, 'POST', '/datasets', { json: { name, repositoryId: home, columns } })
    }
    const list = async (query: string) => {
      const all = (await at.call(at.root, 'GET', `/datasets${query}`)).json() as {
        name: string
        repositoryId: number
        columnCount: number
        columns?: unknown[]
      }[]
      return all
        .filter((one) => one.repositoryId === home)
        .map(({ name, columnCount, columns }) => [name, columnCount, columns?.length])
    }
    expect(await list('')).toEqual([
      ['wide', 500, undefined],
      ['narrow', 2, 2],
    ])
    expect(await list('?columns=true')).toEqual([
      ['wide', 500, 500],
      ['narrow', 2, 2],
    ])
  })

  it('is whole beyond one page, in the order of ids', async () => {
    const home = (
      await at.call(at.root, 'POST', '/repositories', { json: { name: 'many', private: false } })
    ).json().id
    const made: number[] = []
    for (let n = 0; n < 450; n++) {
      made.push((await at.engine.createDataset({ repositoryId: home, name: `t${n}` })).id)
    }
    const all = (await at.call(at.root, 'GET', '/datasets')).json() as { id: number; repositoryId: number }[]
    expect(all.filter((one) => one.repositoryId === home).map(({ id }) => id)).toEqual(made)
    // A range of it has those that the account may read, whatever is between them.
    const between = await at.account('between')
    await at.call(at.root, 'DELETE', `/datasets/${made[1]}`)
    for (const id of [made[3], made[300]]) {
      const other = await at.call(at.root, 'POST', '/repositories', { json: { name: `own of ${id}` } })
      const { id: repositoryId } = other.json()
      await at.call(at.root, 'PATCH', `/datasets/${id}`, { json: { repositoryId } })
    }
    const seenBy = async (key: string, query: string) =>
      (await at.call(key, 'GET', `/datasets${query}`)).json().map((one: { id: number }) => one.id)
    const whole: number[] = await seenBy(between, '')
    expect(whole).toEqual(expect.not.arrayContaining([made[1], made[3], made[300]]))
    for (const [limit, offset] of [
      [1, 0],
      [5, 1],
      [250, 120],
      [1_000, 440],
      [7, 100_000],
    ] as const) {
      expect(await seenBy(between, `?limit=${limit}&offset=${offset}`)).toEqual(
        whole.slice(offset, offset + limit),
      )
    }
    expect(await seenBy(between, '?offset=400')).toEqual(whole.slice(400))
    for (const query of ['limit=0', 'limit=-1', 'offset=1.5', 'limit=ten'])
      expect((await at.call(between, 'GET', `/datasets?${query}`)).statusCode).toBe(400)
    const nobody = await at.account('nobody')
    await at.call(at.root, 'PUT', `/repositories/${home}`, { json: { private: true } })
    const seen = (await at.call(nobody, 'GET', '/datasets')).json() as { repositoryId: number }[]
    expect(seen.filter((one) => one.repositoryId === home)).toEqual([])
  })
})
