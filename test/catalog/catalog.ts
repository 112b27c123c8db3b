import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Database } from '../../engine/catalog/database.ts'
import { Datasets } from '../../engine/catalog/datasets.ts'
import type { Change } from '../../engine/catalog/history.ts'
import { Parts } from '../../engine/catalog/parts.ts'
import type { Part } from '../../engine/catalog/records.ts'
import { Repositories } from '../../engine/catalog/repositories.ts'
import { CATALOG_STEPS, migrate } from '../../engine/catalog/schema.ts'
import { SqliteDatabase } from '../../engine/catalog/sqlite.ts'
import { Versions } from '../../engine/catalog/versions.ts'

/** An empty catalog for each test. */
export function useCatalog() {
  let folder: string
  let database: Database
  let made = 0
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'parquetry-catalog-'))
  })
  beforeEach(async () => {
    database = new SqliteDatabase(join(folder, `${++made}.sqlite`))
    await migrate(database, 'catalog', CATALOG_STEPS)
  })
  afterEach(() => database.close())
  afterAll(() => rmSync(folder, { recursive: true }))
  return {
    get database() {
      return database
    },
    repository: async (name = 'r') => (await new Repositories(database).create({ name })).id,
    dataset: async (repositoryId: number, name = 'd', more = {}) =>
      (await new Datasets(database).create({ repositoryId, name, columns: [], ...more })).id,
    part: async (bytes = 10, more: Partial<Part> = {}): Promise<Part> => {
      const parts = new Parts(database)
      const id = await parts.register('me')
      const part = { id, rows: 1, bytes, rawBytes: 20, hash: `hash ${id}`, statistics: null, ...more }
      await parts.describe(part)
      return part
    },
    /** Makes a version of these parts; without a change, of the same number. */
    commit: (datasetId: number, parts: readonly Part[], change: Change | undefined, more = {}) =>
      database.transaction(async (t) => {
        const versions = new Versions(t)
        const current = await versions.current(datasetId)
        const number = change ? current.number + 1 : current.number
        await versions.commit(datasetId, current, { columns: [], key: [], parts, number, change, ...more })
      }),
  }
}

/** A change of so many rows. */
export const changed = (operation: Change['operation'], addedRows = 1, removedRows = 0): Change => ({
  operation,
  addedRows,
  removedRows,
})
