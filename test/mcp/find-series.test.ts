import { expect, test } from 'vitest'
import type { Client } from '../../server/client/index.ts'
import { findSeries } from '../../server/mcp/series-tools.ts'

/** A category of 2,500 series, of which every seventh is about rain. */
const SERIES = Array.from({ length: 2_500 }, (_, at) => ({
  series_id: `s${at}`,
  name: at % 7 === 0 ? `Rain ${at}` : `Sun ${at}`,
}))
const client = {
  providers: {
    browse: async () => ({ categories: [] }),
    seriesPage: async (
      _slug: string,
      _path: string,
      { limit, offset }: { limit: number; offset: number },
    ) => ({
      total: SERIES.length,
      limit,
      offset,
      series: SERIES.slice(offset, offset + limit),
    }),
  },
} as unknown as Client

test.each([
  ['with words', 'rain', /^Rain/],
  ['without words', undefined, /./],
])('an agent that follows the offsets of a category %s sees each series once', async (_how, text, wanted) => {
  const seen: string[] = []
  let offset = 0
  for (let calls = 0; calls < 100; calls++) {
    const given = { provider: 'weather', path: 'all', offset, ...(text && { text }) }
    const { series, note } = (await findSeries.run(client, given as never, AbortSignal.timeout(10_000))) as {
      series: readonly { name: string }[]
      note?: string
    }
    seen.push(...series.map(({ name }) => name))
    const next = /offset (\d+)/.exec(note ?? '')?.[1]
    if (next === undefined) break
    offset = Number(next)
  }
  expect(seen).toEqual(SERIES.map(({ name }) => name).filter((name) => wanted.test(name)))
})
