import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Engine, type EngineOptions, FORMATS, openEngine } from '../../engine/index.ts'
import type { UploadFormat } from '../../engine/ingest/request.ts'
import { openFiles } from '../engine/open-files.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parquetry-closing-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const open = (more: Partial<EngineOptions> = {}) =>
  openEngine({ directory, role: 'server', threads: 2, workers: 1, ...more })

const ROWS = 60_000
const CSV = `n,x\n${Array.from({ length: ROWS }, (_, n) => `${n},${((n + 1) * 0.754877666) % 1}`).join('\n')}\n`

function upload(content: string | Buffer, format: UploadFormat = 'csv', more = {}) {
  const bytes = Buffer.from(content)
  const body = (async function* () {
    for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
  })()
  return { format, body, ...more }
}

async function dataset(engine: Engine) {
  const repository = await engine.createRepository({ name: 'r' })
  return await engine.dataset((await engine.createDataset({ repositoryId: repository.id, name: 'd' })).id)
}

test('closing gives up the profile that is being made, and the next process makes it', async () => {
  const names = Array.from({ length: 600 }, (_, n) => `c${n}`)
  const events: string[] = []
  const engine = await open({ onEvent: ({ kind }) => events.push(kind) })
  const wide = await dataset(engine)
  const row = names.map((_, n) => n).join()
  await wide.replace(upload(`${names.join()}\n${`${row}\n`.repeat(200)}`))
  expect(await wide.profile()).toBeUndefined()
  await engine.close()
  expect(events).not.toContain('profile_failed')
  await using next = await open()
  const again = await next.dataset(wide.id)
  expect(await again.profile()).toBeUndefined()
  await next.settled()
  expect((await again.profile())?.columns).toHaveLength(600)
})

describe.runIf(process.platform === 'linux')('no file of the data directory is open after closing', () => {
  test('when all has gone well', async () => {
    const engine = await open()
    const rows = await dataset(engine)
    await rows.replace(upload(CSV))
    for (let n = 0; n < 9; n++) await rows.append(upload(CSV))
    for (const format of FORMATS) {
      using query = await rows.query({ orderBy: 'x', top: 20_000 })
      for await (const _ of await query.bytes(format));
    }
    await engine.verify()
    expect(openFiles(directory)).toContain('/catalog.sqlite')
    await engine.close()
    expect(openFiles(directory)).toEqual([])
  })

  test('when queries were dropped, forgotten or cancelled', async () => {
    const engine = await open()
    const rows = await dataset(engine)
    await rows.replace(upload(CSV))
    const forgotten = await rows.query()
    const stream = (await forgotten.bytes('csv'))[Symbol.asyncIterator]()
    await stream.next()
    for await (const _ of (await rows.query({ orderBy: 'x' })).rows()) break
    const cancelled = new AbortController()
    const { signal } = cancelled
    const late = (await rows.query({ orderBy: 'x desc' })).bytes('xlsx', { signal })
    cancelled.abort()
    await expect(late).rejects.toMatchObject({ code: 'cancelled' })
    await engine.close()
    expect(openFiles(directory)).toEqual([])
  })

  test.for([
    ['csv', `${CSV}1,2,3\n`, {}],
    ['csv', gzipSync(CSV).subarray(0, -1_000), { gzip: true }],
    ['ndjson', `${'{"n":1}\n'.repeat(100_000)}{"n":`, {}],
    ['json', `{"rows":[${'[1],'.repeat(100_000)}`, {}],
    ['parquet', Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(1_000_000), Buffer.from('PAR1')]), {}],
    ['arrow', Buffer.alloc(1_000_000, 0xff), {}],
    ['xlsx', Buffer.alloc(1_000_000, 'PK'), {}],
  ] as const)('when an upload of %s was broken', async ([format, content, more]) => {
    const engine = await open()
    await expect(
      (await dataset(engine)).replace(upload(content as string, format, more)),
    ).rejects.toMatchObject({
      name: 'EngineError',
    })
    await engine.close()
    expect(openFiles(directory)).toEqual([])
  })

  test('when an upload was given up in its middle', async () => {
    const engine = await open()
    const rows = await dataset(engine)
    for (const format of ['csv', 'ndjson'] as const) {
      const content = format === 'csv' ? CSV : '{"n":1,"x":0.5}\n'.repeat(ROWS)
      const cancelled = { code: 'cancelled' }
      const leaving = new AbortController()
      const body = (async function* () {
        const bytes = Buffer.from(content)
        yield bytes.subarray(0, bytes.length / 2)
        leaving.abort()
        yield bytes.subarray(bytes.length / 2)
      })()
      const arriving = rows.replace({ format, body, signal: leaving.signal })
      await expect(arriving).rejects.toMatchObject(cancelled)
      const gone = new AbortController()
      const onProgress = () => gone.abort()
      const read = rows.replace(upload(content, format, { signal: gone.signal, onProgress }))
      // A small file may have been stored before its first progress is heard.
      await read.catch((error) => expect(error).toMatchObject(cancelled))
    }
    await engine.close()
    expect(openFiles(directory)).toEqual([])
  })

  test('when it could not be opened', async () => {
    await (await open()).close()
    writeFileSync(
      join(directory, 'catalog.sqlite'),
      'this is no database at all, and long enough to be read as one',
    )
    await expect(open()).rejects.toMatchObject({
      code: 'storage_damaged',
      message: expect.stringMatching(/catalog.sqlite is damaged \(file is not a database\)/),
    })
    expect(openFiles(directory)).toEqual([])
  })
})

describe('closing', () => {
  test('need not wait for rows to be rewritten under a manifest that is given up', async () => {
    const engine = await open()
    const rows = await dataset(engine)
    const before = await rows.replace(upload(CSV))
    const gone = new AbortController()
    const rewritten = rows.declareColumns(
      [...before.columns, { name: 'more', type: 'string', nullable: true }],
      { signal: gone.signal },
    )
    gone.abort()
    const closing = engine.close()
    await expect(rewritten).rejects.toMatchObject({ code: 'cancelled' })
    await closing
    await using again = await open()
    expect(await (await again.dataset(rows.id)).record()).toEqual(before)
    expect((await again.verify()).problems).toEqual([])
    expect(await again.gc()).toMatchObject({ files: 0 })
  })

  test.for([
    ['server', 'gives up a merge that is under way', 8],
    ['guest', 'waits for the merge that its write brought about', 1],
  ] as const)('a %s %s', async ([role, , left]) => {
    const engine = await open({ role, keep: { versions: 1 } })
    const rows = await dataset(engine)
    const parts = () => readdirSync(join(directory, 'parts')).length
    for (let n = 0; n < 8; n++) await rows.append(upload(CSV))
    await vi.waitFor(() => expect(parts()).toBe(9), { interval: 1 })
    await engine.close()
    expect(parts()).toBe(left)
    await using again = await open()
    expect((await (await again.dataset(rows.id)).record()).rowCount).toBe(8 * ROWS)
    expect((await again.verify()).problems).toEqual([])
  })

  test('waits for the writes under way', async () => {
    const engine = await open()
    const rows = await dataset(engine)
    const writing = Promise.all([rows.append(upload(CSV)), rows.append(upload(CSV))])
    await engine.close()
    await writing
    await using again = await open()
    expect((await (await again.dataset(rows.id)).record()).rowCount).toBe(2 * ROWS)
    expect((await again.verify()).problems).toEqual([])
  })

  test('ends a verification that is under way', async () => {
    const engine = await open()
    const rows = await dataset(engine)
    for (let n = 0; n < 3; n++) await rows.append(upload(CSV))
    const verified = engine.verify()
    await Promise.all([expect(verified).rejects.toMatchObject({ code: 'cancelled' }), engine.close()])
    await (await open()).close()
  })

  test('refuses questions to the catalog afterwards', async () => {
    const engine = await open()
    const { database } = engine
    await engine.close()
    const late = { code: 'cancelled', message: expect.stringContaining('being closed') }
    await expect(database.get('SELECT 1')).rejects.toMatchObject(late)
    await expect(database.run('DELETE FROM parts')).rejects.toMatchObject(late)
    await expect(database.exec('DELETE FROM parts')).rejects.toMatchObject(late)
    await expect(engine.datasets()).rejects.toMatchObject(late)
  })

  test('refuses what comes later, in words', async () => {
    const engine = await open()
    const rows = await dataset(engine)
    const writing = rows.replace(upload(CSV))
    const closing = engine.close()
    const late = { code: 'cancelled', message: expect.stringContaining('being closed') }
    await expect(rows.append(upload(CSV))).rejects.toMatchObject(late)
    await expect(rows.declareColumns([{ name: 'n', type: 'integer' }])).rejects.toMatchObject(late)
    await Promise.all([writing, closing, engine.close()])
  })

  test('is no hindrance to queries that are disposed later', async () => {
    const engine = await open()
    const rows = await dataset(engine)
    await rows.replace(upload(CSV))
    const query = await rows.query()
    await engine.close()
    query[Symbol.dispose]()
    // Nothing had been asked before: no DuckDB is opened now.
    await expect(query.bytes('csv')).rejects.toMatchObject({ code: 'cancelled' })
  })

  test('lets the directory go also where DuckDB could not be opened', async () => {
    const engine = await open({ memoryLimit: '1KB' })
    const memory = engine.relation([{ name: 'n', type: 'integer' }], [[1]])
    await expect(memory.query({ filter: 'n gt 0' }).count()).rejects.toThrow()
    await engine.close()
    await (await open()).close()
  })
})

describe('a start that fails lets the directory go', () => {
  test('at a catalog of a newer program', async () => {
    const engine = await open()
    await engine.database.exec("UPDATE migrations SET step = 1000 WHERE namespace = 'catalog'")
    await engine.close()
    await expect(open()).rejects.toThrow(/newer version/)
    expect(existsSync(join(directory, 'locks/server.lock'))).toBe(false)
    expect(readdirSync(join(directory, 'locks'))).toEqual([])
  })

  test('at a temporary folder that is none', async () => {
    await (await open()).close()
    rmSync(join(directory, 'tmp'), { recursive: true })
    writeFileSync(join(directory, 'tmp'), '')
    await expect(open()).rejects.toThrow()
    rmSync(join(directory, 'tmp'))
    await (await open()).close()
  })

  test('at leftovers that can not be swept', async () => {
    const engine = await open()
    await engine.database.exec('ALTER TABLE parts RENAME TO lost')
    await expect(engine.close()).rejects.toThrow(/parts/)
    await expect(open()).rejects.toThrow(/parts/)
    expect(readdirSync(join(directory, 'locks'))).toEqual([])
  })
})
