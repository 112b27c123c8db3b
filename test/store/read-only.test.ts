import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { databaseError } from '../../engine/catalog/failures.ts'
import { openEngine } from '../../engine/index.ts'
import { mountReadOnly } from './disk.ts'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-read-only-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const READ_ONLY = {
  code: 'storage_read_only',
  message:
    'The data directory can not be written to: it is read-only, or belongs to another user. Nothing was changed.',
}
const upload = (text: string) => ({
  format: 'csv' as const,
  body: (async function* () {
    yield Buffer.from(text)
  })(),
})

test('a catalog that has become read-only says so', () => {
  const file = join(folder, 'catalog.sqlite')
  new DatabaseSync(file).exec('CREATE TABLE t (a)')
  using database = new DatabaseSync(file, { readOnly: true })
  let refused: unknown
  try {
    database.exec('INSERT INTO t VALUES (1)')
  } catch (error) {
    refused = error
  }
  expect(refused).toMatchObject({ message: 'attempt to write a readonly database' })
  expect(databaseError(refused)).toMatchObject(READ_ONLY)
})

const probe = join(folder, 'probe')
mkdirSync(probe)
const mounted = mountReadOnly(probe)
mounted?.[Symbol.dispose]()

describe.runIf(mounted)('a data directory that can only be read', () => {
  test('refuses uploads and changes nothing, and goes on when it can be written again', async () => {
    const directory = join(folder, 'running')
    await using engine = await openEngine({ directory, role: 'server', threads: 1, workers: 1 })
    const { id } = await engine.createRepository({ name: 'r' })
    const dataset = await engine.dataset((await engine.createDataset({ name: 'd', repositoryId: id })).id)
    const { version } = await dataset.append(upload('a\n1\n'))
    {
      using _ = mountReadOnly(directory)
      await expect(dataset.append(upload('a\n2\n'))).rejects.toMatchObject(READ_ONLY)
      expect(await dataset.record()).toMatchObject({ version, rowCount: 1 })
    }
    expect(await dataset.append(upload('a\n2\n'))).toMatchObject({ rowCount: 2 })
  })

  test('is no place to start a server', async () => {
    const directory = join(folder, 'started')
    await (await openEngine({ directory, role: 'server', threads: 1, workers: 1 })).close()
    using _ = mountReadOnly(directory)
    await expect(openEngine({ directory, role: 'server' })).rejects.toMatchObject(READ_ONLY)
  })
})
