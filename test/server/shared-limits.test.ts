import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openConnectors } from '../../connectors/index.ts'
import { SqliteDatabase } from '../../engine/catalog/sqlite.ts'
import { migrate } from '../../engine/index.ts'
import { providerLimits } from '../../server/accounts/provider-limits.ts'
import { SERVER_STEPS } from '../../server/accounts/schema.ts'
import { startUpstream } from '../connectors/upstream.ts'

it('two that share a database spend one limit together', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'limits-'))
  const upstream = await startUpstream({ '*': { body: { observations: [], seriesDetail: {} } } })
  const databases = [1, 2].map(() => new SqliteDatabase(join(folder, 'limits.db')))
  await migrate(databases[0]!, 'server', SERVER_STEPS)
  const slug = 'bank-of-canada'
  const limits = { windows: [{ requests: 10, perSeconds: 3600 }] }
  const both = await Promise.all(
    databases.map(async (database) =>
      openConnectors({
        limitStore: await providerLimits(database),
        overrides: { [slug]: { baseUrl: upstream.url, limits } },
      }),
    ),
  )
  const asked = Array.from({ length: 30 }, (_, index) => both[index % 2]!.series(slug, `S${index}`))
  const outcomes = await Promise.allSettled(asked)
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
  expect(upstream.requests).toHaveLength(10)
  await Promise.all(both.map((each) => each.close()))
  for (const database of databases) await database.close()
  await upstream.close()
  rmSync(folder, { recursive: true, force: true })
})
