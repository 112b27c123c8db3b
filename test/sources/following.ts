import type { Hit, Reply, Routes } from '../connectors/support/upstream.ts'
import { type Platform, platform } from '../server/platform.ts'

/** A FRED that can be changed, asked by a service whose clock stands still until it is moved. */
export interface Following extends AsyncDisposable {
  readonly at: Platform
  readonly ada: string
  /** Values of the series by their ids, the first in January 2024; a text instead fails with that status. */
  readonly series: Map<string, readonly number[] | number>
  readonly clock: { now: Date }
  /** Moves the clock on, and refreshes what is due then. */
  later(hours: number): Promise<number>
  /** An empty dataset of Ada's. */
  dataset(): Promise<number>
  follow(id: number, body: object): Promise<Record<string, unknown>>
  source(id: number): Promise<Record<string, unknown>>
  csv(id: number): Promise<string>
  /** Ids of the series whose observations were asked for since the last time. */
  asked(): string[]
}

/** A time as it is written in rows, which end it at its last digit that is not 0. */
export const writtenTime = (time: string) => time.replace(/\.?0+Z$/, 'Z')

export const LIMITS = { windows: [], withKey: [{ requests: 10_000, perSeconds: 60 }] }

export function fredRoutes(series: Map<string, readonly number[] | number>): Routes {
  const answer = (hit: Hit, found: (id: string, values: readonly number[]) => object): Reply => {
    const id = hit.query.get('series_id') ?? ''
    const values = series.get(id)
    if (typeof values === 'number')
      return { status: values, body: { error_code: values, error_message: 'x' } }
    return values === undefined
      ? { status: 400, body: { error_code: 400, error_message: 'Bad Request. The series does not exist.' } }
      : { body: found(id, values) }
  }
  return {
    '/fred/series': (hit) =>
      answer(hit, (id) => ({
        seriess: [{ id, title: `Series ${id}`, frequency: 'Monthly', units: 'Index' }],
      })),
    '/fred/series/observations': (hit) =>
      answer(hit, (_id, values) => ({
        count: values.length,
        observations: values.map((value, month) => ({
          date: new Date(Date.UTC(2024, month)).toISOString().slice(0, 10),
          value: String(value),
        })),
      })),
  }
}

export async function following(limits: object = LIMITS): Promise<Following> {
  const clock = { now: new Date('2026-03-01T10:00:00Z') }
  const series = new Map<string, readonly number[] | number>([
    ['A', [1, 2]],
    ['B', [10]],
  ])
  const at = await platform({
    routes: fredRoutes(series),
    now: () => clock.now,
    config: { providers: { fred: { key: 'k', limits } } },
  })
  const ada = await at.account('ada')
  const { id: repositoryId } = (
    await at.call(ada, 'POST', '/repositories', { json: { name: 'followed', private: false } })
  ).json()
  let made = 0
  let seen = 0
  return {
    at,
    ada,
    series,
    clock,
    later: (hours) => {
      clock.now = new Date(clock.now.getTime() + hours * 3_600_000)
      return at.services.refresher.runDue()
    },
    async dataset() {
      const name = `followed-${++made}`
      return (await at.call(ada, 'POST', '/datasets', { json: { name, repositoryId } })).json().id
    },
    async follow(id, body) {
      const answer = await at.call(ada, 'PUT', `/datasets/${id}/source`, { json: body })
      if (answer.statusCode !== 200) throw new Error(answer.body)
      // The answer may have come before the end of the first refresh.
      await at.services.refresher.runDue()
      return (await at.call(ada, 'GET', `/datasets/${id}/source`)).json()
    },
    source: async (id) => (await at.call(ada, 'GET', `/datasets/${id}/source`)).json(),
    csv: async (id) => (await at.call(ada, 'GET', `/datasets/${id}/data`)).body,
    asked() {
      const hits = at.upstream.requests.slice(seen).filter(({ path }) => path.endsWith('/observations'))
      seen = at.upstream.requests.length
      return hits.map(({ query }) => query.get('series_id')!)
    },
    [Symbol.asyncDispose]: () => at[Symbol.asyncDispose](),
  }
}
