import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Hit, Reply, Routes } from '../connectors/support/upstream.ts'
import { type Platform, platform } from '../server/platform.ts'
import { fredRoutes, LIMITS, writtenTime } from './following.ts'

/** Values of the months from January 2024 on; NaN is a gap. */
type Months = readonly number[]
type Fault = 'down' | 'limited' | 'page' | 'gone' | 'empty' | 'shrunken'
/** The values of each series by their periods. */
type Known = ReadonlyMap<string, ReadonlyMap<string, number | null>>

const FAULTS: readonly Fault[] = ['down', 'limited', 'page', 'gone', 'empty', 'shrunken']
const DAY_MS = 86_400_000
/** Longer than an answer comes from the cache. */
const FRESH_MS = 20 * 60_000
const PATTERN = 'ecb/RATES/M..S'

/** Numbers from 0 to 1, the same ones in each run (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const someMonths = (random: () => number, count: number) =>
  Array.from({ length: count }, () => Math.round(random() * 1000) / 8)

const periodOf = (month: number) => new Date(Date.UTC(2024, month)).toISOString().slice(0, 7)

/** Two agencies: eight series of one are read by their ids, the series of the other by a pattern. */
class Agencies {
  /** By `series_id` in the dataset. */
  readonly truth = new Map<string, Months>()
  /** What goes wrong with a series, or with all that the pattern finds. */
  readonly faults = new Map<string, Fault>()
  readonly routes: Routes = { '*': (hit) => (hit.path.startsWith('/ecb/') ? this.#ecb() : this.#fred(hit)) }

  /** What agencies do in a week: revise, leave gaps, change the base, withdraw months, and fail. */
  change(week: number, random: () => number): void {
    const pick = <T>(of: readonly T[]) => of[Math.floor(random() * of.length)]!
    for (const [id, months] of this.truth) {
      const values = [...months, ...(week % 4 === 0 ? someMonths(random, 1) : [])]
      if (random() < 0.3) values[Math.floor(random() * values.length)] = someMonths(random, 1)[0]!
      if (random() < 0.05) values[Math.floor(random() * values.length)] = Number.NaN
      const base = random() < 0.03 ? 2 : 1
      const last = random() < 0.02 ? -3 : undefined
      this.truth.set(
        id,
        values.slice(0, last).map((value) => value * base),
      )
      if (random() < 0.12) this.faults.set(id, pick(id.startsWith('fred/') ? FAULTS : ['gone', 'shrunken']))
    }
    if (random() < 0.15) this.faults.set(PATTERN, pick(['down', 'limited', 'page', 'gone']))
  }

  /** The values that an answer has. */
  #given(id: string): Months | undefined {
    const months = this.truth.get(id)
    const fault = this.faults.get(id)
    if (months === undefined || fault === 'gone') return undefined
    return fault === 'empty' ? [] : fault === 'shrunken' ? months.slice(0, months.length / 3) : months
  }

  #failure(id: string): Reply | undefined {
    const fault = this.faults.get(id)
    if (fault === 'down') return { status: 503, body: 'Service Unavailable' }
    if (fault === 'limited') return { status: 429, body: 'Too Many Requests' }
    return fault === 'page' ? { type: 'text/html', body: '<html>Maintenance</html>' } : undefined
  }

  #fred(hit: Hit): Reply {
    const name = hit.query.get('series_id')!
    const given = this.#given(`fred/${name}`)
    const route = fredRoutes(new Map(given && [[name, given]]))[hit.path]
    return this.#failure(`fred/${name}`) ?? (route as (hit: Hit) => Reply)(hit)
  }

  #ecb(): Reply {
    const lines = [...this.truth.keys()].flatMap((id) => {
      const currency = /^ecb\/RATES\/M\.(\w+)\.S$/.exec(id)?.[1]
      if (currency === undefined) return []
      const given = this.#given(id) ?? []
      return given.map((value, month) => {
        const cell = Number.isNaN(value) ? '' : value
        return `RATES.M.${currency}.S,M,${currency},S,${periodOf(month)},${cell},${currency}\n`
      })
    })
    const body = `KEY,FREQ,CURRENCY,TYPE,TIME_PERIOD,OBS_VALUE,TITLE\n${lines.join('')}`
    const isGone = this.faults.get(PATTERN) === 'gone'
    return (
      this.#failure(PATTERN) ?? (isGone ? { status: 404, body: 'No results' } : { type: 'text/csv', body })
    )
  }
}

let at: Platform
let now = new Date('2026-01-05T10:00:00Z')
const agencies = new Agencies()
beforeAll(async () => {
  const config = { providers: { fred: { key: 'k', limits: LIMITS } } }
  at = await platform({ routes: agencies.routes, now: () => now, config })
})
afterAll(() => at[Symbol.asyncDispose]())

const call = async (method: string, path: string, json?: object) => {
  const answer = await at.call(at.root, method, path, json && { json })
  expect(answer.statusCode, answer.body).toBeLessThan(300)
  return answer.json()
}

interface State {
  readonly missing: readonly { readonly series: string; readonly code: string }[]
  readonly lastVersion: number
  readonly nextRun: string
}

interface Observation {
  readonly series_id: string
  readonly period: string
  readonly value: number | null
}

function bySeries(rows: readonly Observation[]): Map<string, Map<string, number | null>> {
  const known = new Map<string, Map<string, number | null>>()
  for (const { series_id, period, value } of rows)
    known.set(series_id, (known.get(series_id) ?? new Map()).set(period, value))
  return known
}

/** What the dataset must have after a refresh: what the agencies have, but what is missing as it was. */
function expected(before: Known, { missing }: State): Known {
  const kept = (id: string) => {
    const followed = id.startsWith('fred/') ? id : PATTERN
    const failed = missing.find(({ series }) => series === followed)
    // If only some of what the pattern finds is lost, the rest is renewed.
    const isPartly = followed === PATTERN && failed?.code === 'fewer_rows'
    return isPartly ? agencies.faults.has(id) || !agencies.truth.has(id) : failed !== undefined
  }
  const renewed = [...agencies.truth].flatMap(
    ([id, months]): [string, ReadonlyMap<string, number | null>][] => {
      if (kept(id)) return []
      return [
        [id, new Map(months.map((value, month) => [periodOf(month), Number.isNaN(value) ? null : value]))],
      ]
    },
  )
  return new Map([...[...before].filter(([id]) => kept(id)), ...renewed])
}

/** The rows of `revisions` by what was known in each version. */
function revisionsOf(versions: readonly { readonly made: string; readonly known: Known }[]) {
  const rows: (Observation & { known_from: string; known_to: string | null })[] = []
  const ids = new Set(versions.flatMap(({ known }) => [...known.keys()]))
  for (const series_id of [...ids].sort()) {
    const all = versions.map(({ made, known }) => ({ made, values: known.get(series_id) }))
    const periods = new Set(all.flatMap(({ values }) => [...(values?.keys() ?? [])]))
    for (const period of [...periods].sort()) {
      let open: (typeof rows)[number] | undefined
      for (const { made, values } of all) {
        const value = values?.get(period)
        if (open && value !== open.value) {
          open.known_to = made
          open = undefined
        }
        if (!open && value !== undefined)
          rows.push((open = { series_id, period, value, known_from: made, known_to: null }))
      }
    }
  }
  return rows
}

it('a year of refreshes of ten series loses no row, and each revision is found again', async () => {
  const random = numbers(58)
  const names = 'ABCDEFGH'.split('').map((name) => `fred/${name}`)
  for (const id of [...names, 'ecb/RATES/M.USD.S', 'ecb/RATES/M.GBP.S'])
    agencies.truth.set(id, someMonths(random, 24))

  const { id: repositoryId } = await call('POST', '/repositories', { name: 'r' })
  const { id } = await call('POST', '/datasets', { name: 'd', repositoryId })
  await call('PATCH', `/datasets/${id}`, { keep: { versions: 1000, days: 36_525 } })
  const series = [...names, PATTERN]
  const versions = new Map<number, Known>()
  let known: Known = new Map()
  const seen = new Set<string>()

  const check = async (week: number) => {
    const state: State = await call('GET', `/datasets/${id}/source`)
    for (const { code } of state.missing) seen.add(code)
    const failed = state.missing.map((one) => one.series)
    for (const one of agencies.faults.keys())
      expect(failed, `week ${week}`).toContain(one.startsWith('fred/') ? one : PATTERN)
    known = expected(known, state)
    const rows = await call('GET', `/datasets/${id}/data?$select=series_id,period,value&$format=json`)
    expect(bySeries(rows), `week ${week}`).toEqual(known)
    versions.set(state.lastVersion, known)
    return state
  }
  const follow = async (week: number) => {
    await call('PUT', `/datasets/${id}/source`, { series, every: 'week' })
    await at.services.refresher.runDue()
    return check(week)
  }
  const refresh = async (week: number, time: number) => {
    now = new Date(Math.max(time, now.getTime() + FRESH_MS))
    expect(await at.services.refresher.runDue()).toBe(1)
    return check(week)
  }

  let since = now.getTime()
  let state = await follow(0)
  for (let week = 1; week <= 52; week++) {
    agencies.change(week, random)
    // An id moves: the agency no longer has the old one, and the user adds the new one.
    if (week === 20) agencies.truth.delete('fred/H')
    if (week === 22) {
      agencies.truth.set('fred/H2', someMonths(random, 30))
      series.push('fred/H2')
      since = now.getTime() + DAY_MS
      now = new Date(since)
      state = await follow(week)
    }
    if (week === 30) {
      agencies.truth.delete('ecb/RATES/M.GBP.S')
      agencies.truth.set('ecb/RATES/M.JPY.S', someMonths(random, 12))
    }
    const scheduled = since + 7 * DAY_MS * (1 + Math.floor((now.getTime() - since) / (7 * DAY_MS)))
    state = await refresh(week, scheduled)
    for (let tries = 1; Date.parse(state.nextRun) < now.getTime() + DAY_MS; tries++) {
      if (tries > 2 || random() < 0.3) agencies.faults.clear()
      state = await refresh(week, Date.parse(state.nextRun))
    }
    agencies.faults.clear()
  }

  const codes = ['fewer_rows', 'not_understood', 'provider_down', 'provider_limit', 'series_not_found']
  expect([...seen].sort()).toEqual(codes)
  const list: { number: number; createdAt: string }[] = await call('GET', `/datasets/${id}/versions`)
  const made = new Map(list.map(({ number, createdAt }) => [number, writtenTime(createdAt)]))
  const order = [...versions.keys()].sort((a, b) => a - b)
  expect(order.length).toBeGreaterThan(30)
  const found = await call('GET', `/datasets/${id}/revisions?$format=json`)
  expect(found).toEqual(
    revisionsOf(order.map((version) => ({ made: made.get(version)!, known: versions.get(version)! }))),
  )
})
