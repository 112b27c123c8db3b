import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openConnectors } from '../../connectors/index.ts'
import { type BenchOptions, type Case, duel, timed } from '../case.ts'

/** Days of one series: some forty years of business days. */
const DAYS = 10_000

/** Reads of a provider's series, from the cache and from a provider on this machine that answers at once. */
export async function* measure({ quick }: BenchOptions): AsyncGenerator<Case> {
  const provider = await startProvider()
  const limits = { windows: [] }
  const overrides = { 'bank-of-canada': { baseUrl: provider.url, limits } }
  const connectors = openConnectors({ overrides, cache: { maxBytes: 1 << 28 } })
  const runs = quick ? 15 : 60
  let fresh = 0
  try {
    yield await duel(
      `read of a series of ${DAYS.toLocaleString('en')} days, cached`,
      'not cached',
      runs,
      () => connectors.series('bank-of-canada', 'SAME'),
      () => connectors.series('bank-of-canada', `S${fresh++}`),
    )
    const before = provider.count()
    const took = await timed(() =>
      Promise.all(Array.from({ length: 1000 }, () => connectors.series('bank-of-canada', 'SHARED'))),
    )
    const requests = provider.count() - before
    yield { name: `1,000 readers of one series (requests: ${requests})`, value: took, unit: 'ms' }
  } finally {
    await connectors.close()
    await provider.close()
  }
}

async function startProvider() {
  let count = 0
  const observations = Array.from({ length: DAYS }, (_, day) => ({
    d: new Date(day * 86_400_000).toISOString().slice(0, 10),
    V: { v: String(day / 100) },
  }))
  const body = JSON.stringify({ seriesDetail: { V: { label: 'V' } }, observations })
  const server = createServer((_request, response) => {
    count++
    response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => count,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
