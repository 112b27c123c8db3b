import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openEngine } from '../../engine/index.ts'

/** What others on the machine may get at below a folder that all may read. */
function exposed(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if ((statSync(path).mode & 0o077) === 0) return []
    return [path, ...(entry.isDirectory() ? exposed(path) : [])]
  })
}

test.runIf(process.platform !== 'win32')(
  'nobody else reads rows or metadata, whoever made the folder',
  async () => {
    const place = mkdtempSync(join(tmpdir(), 'parquetry-private-'))
    const umask = process.umask(0o022)
    try {
      chmodSync(place, 0o755)
      await using engine = await openEngine({ directory: place, role: 'server', threads: 1, workers: 1 })
      const repository = await engine.createRepository({ name: 'r' })
      const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'd' })
      const body = (async function* () {
        yield Buffer.from('n\n1\n')
      })()
      await (await engine.dataset(id)).replace({ format: 'csv', body })
      expect(readdirSync(place)).toContain('catalog.sqlite-wal')
      expect(exposed(place)).toEqual([])
      const copy = mkdtempSync(join(tmpdir(), 'parquetry-private-copy-'))
      chmodSync(copy, 0o755)
      await engine.backup(copy)
      expect(readdirSync(copy)).toContain('catalog.sqlite')
      expect(exposed(copy)).toEqual([])
      rmSync(copy, { recursive: true })
    } finally {
      process.umask(umask)
      rmSync(place, { recursive: true })
    }
  },
)
