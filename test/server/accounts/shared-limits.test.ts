import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openConnectors } from '../../../connectors/index.ts'
import { SqliteDatabase } from '../../../engine/catalog/sqlite.ts'
import { migrate } from '../../../engine/index.ts'
import { SERVER_STEPS } from '../../../server/accounts/schema.ts'
import { providerLimits } from '../../../server/providers.ts'
import { startUpstream } from '../../connectors/support/upstream.ts'

/** Two processes on one database, as far as it can tell, that ask one provider of at most 10 requests an hour. */
async function two(slug: string, answer: object) {
  const folder = mkdtempSync(join(tmpdir(), 'limits-'))
  const upstream = await startUpstream({ '*': { body: answer } })
  const databases = [1, 2].map(() => new SqliteDatabase(join(folder, 'limits.db')))
  await migrate(databases[0]!, 'server', SERVER_STEPS)
  const limits = { windows: [{ requests: 10, perSeconds: 3600 }] }
  const both = await Promise.all(
    databases.map(async (database) =>
      openConnectors({
        limitStore: await providerLimits(database),
        overrides: { [slug]: { baseUrl: upstream.url, limits, key: 'k' } },
      }),
    ),
  )
  return {
    both,
    upstream,
    async [Symbol.asyncDispose]() {
      await Promise.all(both.map((each) => each.close()))
      for (const database of databases) await database.close()
      await upstream.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

it('two that share a database spend one limit together', async () => {
  const slug = 'bank-of-canada'
  await using at = await two(slug, { observations: [], seriesDetail: {} })
  const asked = Array.from({ length: 30 }, (_, index) => at.both[index % 2]!.series(slug, `S${index}`))
  const outcomes = await Promise.allSettled(asked)
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
  expect(at.upstream.requests).toHaveLength(10)
})

it('and so do their searches and their tables of many series', async () => {
  const slug = 'fred'
  await using at = await two(slug, { count: 0, seriess: [{ id: 'X', title: 'X' }], observations: [] })
  const page = { limit: 5, offset: 0 }
  const work = at.both.flatMap((connectors, process) => [
    ...Array.from({ length: 4 }, (_, n) => connectors.search(slug, `words ${process} ${n}`, page)),
    connectors.many(Array.from({ length: 6 }, (_, n) => ({ provider: slug, id: `S${process}${n}` }))),
  ])
  const outcomes = await Promise.allSettled(work)
  expect(at.upstream.requests).toHaveLength(10)
  const failed = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  for (const reason of failed) expect(reason).toMatchObject({ code: 'provider_limit' })
  expect(failed.length).toBeGreaterThan(0)
})
