import { describe, expect, it } from 'vitest'
import type { ErrorFields } from '../../engine/errors.ts'
import { type Answer, service } from './asked.ts'

const at = service()

const expectError = (answer: Answer, status: number, message: RegExp, fields: ErrorFields = {}) => {
  expect(answer.status).toBe(status)
  expect(answer.json).toEqual({ error: expect.stringMatching(message), code: expect.any(String), ...fields })
}

describe('400', () => {
  it('where a required field is missing', async () => {
    expectError(await at.ask(at.ada, 'POST', '/datasets', { name: 'd' }), 400, /repositoryId/)
    expectError(await at.ask(at.ada, 'POST', '/repositories', {}), 400, /name/)
  })

  it('where the body is no JSON', async () => {
    expectError(await at.ask(at.ada, 'POST', '/repositories', '{"name":'), 400, /JSON/)
  })

  it('where $filter names columns that are not there', async () => {
    const { id } = await at.table()
    const answer = await at.get(`/datasets/${id}/data?$filter=Word eq 'a'`)
    expectError(answer, 400, /^Filter contains invalid column\(s\): Word/i, {
      columns: ['Word'],
      option: '$filter',
      position: 0,
    })
  })
})

describe('402', () => {
  it('for a private repository beyond the plan', async () => {
    await at.repository({ private: true }, at.eve)
    const more = await at.ask(at.eve, 'POST', '/repositories', { name: 'second', private: true })
    expectError(more, 402, /private repositories/)
  })

  it('for a paid provider on a free plan', async () => {
    const paid = (await at.get('/providers')).json.find(({ tier }: { tier: string }) => tier === 'paid')
    expectError(await at.get(`/providers/${paid.slug}/series/X`, at.eve), 402, /paid/)
  })

  it('for a download beyond the quota of the month', async () => {
    const { id } = await at.table(`n\n${'1\n'.repeat(20)}`)
    expect((await at.get(`/datasets/${id}/data`, at.eve)).status).toBe(200)
    expectError(await at.get(`/datasets/${id}/data`, at.eve), 402, /rows/)
  })
})

describe('404 and 409', () => {
  it('404 for what is not there, and for what was deleted', async () => {
    const { id, repositoryId } = await at.table()
    await at.ask(at.ada, 'DELETE', `/repositories/${repositoryId}`)
    for (const path of [
      `/datasets/${id}`,
      `/datasets/${id}/data`,
      `/repositories/${repositoryId}`,
      '/datasets/999999',
    ]) {
      expectError(await at.get(path), 404, /There is no/)
    }
  })

  it('409 for a name that exists, and for a manifest that conflicts with the types that are there', async () => {
    const { id, repositoryId } = await at.table('word\nabc\n')
    const again = await at.ask(at.ada, 'POST', '/datasets', { name: 'table', repositoryId })
    expectError(again, 409, /table/)
    const manifest = await at.ask(at.ada, 'PUT', `/datasets/${id}/columns`, [
      { name: 'word', type: 'integer' },
    ])
    expectError(manifest, 409, /word/)
  })

  it('409 for one of two changes of the same saved key at the same time', async () => {
    const save = (key: string) => at.ask(at.ada, 'PUT', '/user-keys/fred', { key })
    const answers = await Promise.all([save('first-key-000001'), save('second-key-000002')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    await at.ask(at.ada, 'DELETE', '/user-keys/fred')
  })
})

it('a failing provider is told of by its name, without address or key', async () => {
  const answer = await at.get('/providers/nasdaq/series/LBMA/GOLD', at.at.root)
  expect(answer.status).toBeGreaterThanOrEqual(400)
  expect(answer.json.error).toContain('Nasdaq')
  for (const secret of [at.at.upstream.url, 'the-key-of-the-service', 'node_modules', '.ts']) {
    expect(answer.text).not.toContain(secret)
  }
})
