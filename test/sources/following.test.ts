import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { Dataset, EngineError } from '../../engine/index.ts'
import { type Following, following } from './following.ts'

let at: Following
beforeAll(async () => {
  at = await following()
})
afterAll(() => at[Symbol.asyncDispose]())

const HEAD = 'series_id,name,unit,frequency,date,period,value,status\n'
const A1 = 'fred/A,Series A,Index,monthly,2024-01-01,2024-01,1,\n'
const A2 = 'fred/A,Series A,Index,monthly,2024-02-01,2024-02,2,\n'
const B1 = 'fred/B,Series B,Index,monthly,2024-01-01,2024-01,10,\n'

let id: number
beforeEach(async () => {
  at.series.clear()
  at.series.set('A', [1, 2])
  at.series.set('B', [10])
  // What earlier tests have left does not get in the way.
  for (const { id } of await at.at.engine.datasets()) await at.at.engine.deleteDataset(id)
  id = await at.dataset()
  at.clock.now = new Date(at.clock.now.getTime() + 100 * 86_400_000)
  at.asked()
})

const versionOf = async () => (await (await at.at.engine.dataset(id)).record()).version
const iso = (hours: number) => new Date(at.clock.now.getTime() + hours * 3_600_000).toISOString()

describe('a dataset that follows series', () => {
  it('has their rows at once, and says when it is refreshed next', async () => {
    const source = await at.follow(id, { series: ['FRED/A', 'fred/B'], every: 'day' })
    expect(source).toEqual({
      series: ['fred/A', 'fred/B'],
      start: null,
      every: 'day',
      lastRun: iso(0),
      nextRun: iso(24),
      lastError: null,
      hints: [],
      missing: [],
      lastVersion: await versionOf(),
    })
    expect(await at.csv(id)).toBe(HEAD + A1 + A2 + B1)
  })

  it('gets a new version when something has changed, and else none', async () => {
    await at.follow(id, { series: ['fred/A'], every: 'day' })
    const first = await versionOf()
    expect(await at.later(23)).toBe(0)
    expect(await at.later(1)).toBe(1)
    expect(await versionOf()).toBe(first)
    expect(await at.source(id)).toMatchObject({ lastRun: iso(0), nextRun: iso(24), lastVersion: first })
    at.series.set('A', [1, 2, 3])
    expect(await at.later(24)).toBe(1)
    expect(await at.csv(id)).toBe(`${HEAD}${A1}${A2}fred/A,Series A,Index,monthly,2024-03-01,2024-03,3,\n`)
    expect(await at.source(id)).toMatchObject({ lastVersion: first + 1 })
    expect(await versionOf()).toBe(first + 1)
  })

  it('asks for what lies behind the start alone', async () => {
    expect(await at.follow(id, { series: ['fred/A'], start: '2024-02-01' })).toMatchObject({
      start: '2024-02-01',
      every: 'day',
    })
    expect(await at.csv(id)).toBe(HEAD + A2)
  })

  it('keeps the rows of a series that can not be had, renews the others, and tries that one again', async () => {
    await at.follow(id, { series: ['fred/A', 'fred/B'], every: 'day' })
    at.series.set('A', 503)
    at.series.set('B', [11])
    at.asked()
    await at.later(24)
    expect(await at.csv(id)).toBe(HEAD + A1 + A2 + B1.replace(',10,', ',11,'))
    const failed = await at.source(id)
    expect(failed).toMatchObject({ lastRun: iso(0), nextRun: iso(5 / 60) })
    expect(failed['lastError']).toMatch(/^fred\/A: FRED /)
    expect(failed['missing']).toEqual([
      { series: 'fred/A', code: 'provider_down', error: expect.stringContaining('FRED') },
    ])
    expect(at.asked().sort()).toEqual(['A', 'B'])
    at.series.set('A', [5])
    at.series.set('B', [12])
    expect(await at.later(0.1)).toBe(1)
    expect(at.asked()).toEqual(['A'])
    expect(await at.csv(id)).toBe(HEAD + A1.replace(',1,\n', ',5,\n') + B1.replace(',10,', ',11,'))
    const mended = await at.source(id)
    expect(mended).toMatchObject({ lastError: null, missing: [], nextRun: iso(24 - 0.1) })
  })

  it('names a series that does not exist, and waits with it for the schedule', async () => {
    const source = await at.follow(id, { series: ['fred/A', 'fred/NOPE'], every: 'week' })
    expect(source).toMatchObject({
      lastError: "fred/NOPE: FRED has no series 'NOPE'.",
      missing: [{ series: 'fred/NOPE', code: 'series_not_found', error: "FRED has no series 'NOPE'." }],
      nextRun: iso(7 * 24),
    })
    expect(await at.csv(id)).toBe(HEAD + A1 + A2)
  })

  it('shows its columns, and what is wrong, where the first run brings nothing', async () => {
    const source = await at.follow(id, { series: ['fred/NOPE'] })
    expect(source).toMatchObject({ lastVersion: null, lastError: expect.stringContaining('NOPE') })
    expect(await at.csv(id)).toBe(HEAD)
  })

  it('changes nothing where nothing can be had', async () => {
    await at.follow(id, { series: ['fred/A'], every: 'day' })
    const before = await versionOf()
    at.series.set('A', 503)
    await at.later(24)
    expect(await versionOf()).toBe(before)
    expect(await at.csv(id)).toBe(HEAD + A1 + A2)
  })

  it('follows other series from the next PUT on, which refreshes at once', async () => {
    await at.follow(id, { series: ['fred/A'], every: 'day' })
    await at.follow(id, { series: ['fred/B'], every: 'month' })
    expect(await at.csv(id)).toBe(HEAD + B1)
  })

  it('has rows put back that a command has replaced', async () => {
    await at.follow(id, { series: ['fred/B'], every: 'day' })
    await (await at.at.engine.dataset(id)).replace({
      format: 'csv',
      body: (async function* () {
        yield Buffer.from(HEAD + A1)
      })(),
    })
    await at.later(24)
    expect(await at.csv(id)).toBe(HEAD + B1)
  })

  it('says so when whoever set it may no longer write there', async () => {
    await at.follow(id, { series: ['fred/A'], every: 'day' })
    const { services } = at.at
    const { id: ada } = await services.accounts.byName('ada')
    await services.accounts.update(ada, { disabled: true })
    await at.later(24)
    await services.accounts.update(ada, { disabled: false })
    expect(await at.source(id)).toMatchObject({
      lastError: 'The account ada, which set the source, is disabled.',
      nextRun: iso(24),
    })
  })

  it('follows nothing if its columns could not be declared', async () => {
    const full = new EngineError('storage_full', 'The disk is full.')
    vi.spyOn(Dataset.prototype, 'declareColumns').mockRejectedValueOnce(full)
    await expect(at.follow(id, { series: ['fred/A'] })).rejects.toThrow('storage_full')
    expect(await at.source(id)).toMatchObject({ code: 'not_followed' })
    await at.follow(id, { series: ['fred/A'] })
    expect(await at.csv(id)).toBe(HEAD + A1 + A2)
  })

  it('goes with its dataset', async () => {
    await at.follow(id, { series: ['fred/A'], every: 'day' })
    await at.at.call(at.ada, 'DELETE', `/datasets/${id}`)
    expect(await at.later(24)).toBe(0)
  })

  it('ends with DELETE; the rows stay and others may be written', async () => {
    await at.follow(id, { series: ['fred/A'], every: 'day' })
    const path = `/datasets/${id}/source`
    expect((await at.at.call(at.ada, 'DELETE', path)).statusCode).toBe(204)
    expect((await at.at.call(at.ada, 'DELETE', path)).statusCode).toBe(404)
    expect((await at.at.call(at.ada, 'GET', path)).statusCode).toBe(404)
    expect(await at.later(48)).toBe(0)
    expect(await at.csv(id)).toBe(HEAD + A1 + A2)
    const more = { body: HEAD + B1, headers: { 'content-type': 'text/csv' } }
    expect((await at.at.call(at.ada, 'POST', `/datasets/${id}/data`, more)).statusCode).toBe(200)
  })
})

describe('refused', () => {
  it.each([
    [{}, 'invalid_body'],
    [{ series: [] }, 'invalid_body'],
    [{ series: ['GDP'] }, 'invalid_body'],
    [{ series: ['nobody/GDP'] }, 'invalid_body'],
    [{ series: ['fred/'] }, 'invalid_body'],
    [{ series: ['fred/\ud800'] }, 'invalid_body'],
    [{ series: ['fred/A\u0000'] }, 'invalid_body'],
    [{ series: ['fred/A'], every: 'minute' }, 'invalid_body'],
    [{ series: ['fred/A'], start: '2024-02-30' }, 'invalid_body'],
    [{ series: ['fred/A'], end: '2024-02-28' }, 'invalid_body'],
    [{ series: Array.from({ length: 101 }, (_, n) => `fred/S${n}`) }, 'invalid_body'],
  ])('%j', async (json, code) => {
    const answer = await at.at.call(at.ada, 'PUT', `/datasets/${id}/source`, { json })
    expect([answer.statusCode, answer.json().code]).toEqual([400, code])
    expect(at.asked()).toEqual([])
  })

  it('a paid provider on a plan without them', async () => {
    const eve = await at.at.account(`eve-${id}`, 'free')
    const repository = await at.at.call(eve, 'POST', '/repositories', {
      json: { name: 'hers', private: false },
    })
    const made = await at.at.call(eve, 'POST', '/datasets', {
      json: { name: 'x', repositoryId: repository.json().id },
    })
    const answer = await at.at.call(eve, 'PUT', `/datasets/${made.json().id}/source`, {
      json: { series: ['nasdaq/WIKI/X'] },
    })
    expect(answer.statusCode).toBe(402)
  })

  it('a dataset with other data', async () => {
    const upload = { body: 'n\n1\n', headers: { 'content-type': 'text/csv' } }
    await at.at.call(at.ada, 'PUT', `/datasets/${id}/data`, upload)
    const answer = await at.at.call(at.ada, 'PUT', `/datasets/${id}/source`, { json: { series: ['fred/A'] } })
    expect([answer.statusCode, answer.json().code]).toEqual([409, 'other_data'])
    expect(await at.csv(id)).toBe('n\n1\n')
  })

  it('rows for a dataset that follows', async () => {
    await at.follow(id, { series: ['fred/A'] })
    const upload = { body: HEAD + B1, headers: { 'content-type': 'text/csv' } }
    for (const method of ['PUT', 'POST']) {
      const answer = await at.at.call(at.ada, method, `/datasets/${id}/data`, upload)
      expect([answer.statusCode, answer.json().code]).toEqual([409, 'follows_series'])
    }
  })
})
