import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { type Dataset, openEngine } from '../../engine/index.ts'
import { after, type Change, type Rows, sorted } from '../crash/edited.ts'
import { leftovers } from '../faults/oracle.ts'
import { LONG } from '../long.ts'

/** How often the writer is killed; PARQUETRY_KILLS says otherwise. */
const KILLS = Number(process.env['PARQUETRY_KILLS'] ?? (LONG ? 200 : 3))
const KEEP = { versions: 30 }

const directory = mkdtempSync(join(tmpdir(), 'parquetry-versions-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

async function rowsOf(dataset: Dataset, version: number): Promise<Rows> {
  using query = await dataset.query({ version })
  const rows = new Map<number, number>()
  let count = 0
  for await (const row of query.rows()) {
    rows.set(Number(row['k']), Number(row['v']))
    count += 1
  }
  expect(count, 'no key is there twice').toBe(rows.size)
  return rows
}

/** The rows of a version, made of those of the version before by what `changes` says. */
async function changed(dataset: Dataset, before: Rows, since: number): Promise<Rows> {
  using changes = await dataset.changes({ since, until: since + 1 })
  using query = changes.query()
  const rows = new Map(before)
  for await (const row of query.rows()) {
    const key = Number(row['k'])
    const is = String(row['_change'])
    if (is === 'delete' || is === 'update_before') {
      expect(rows.get(key), `${is} of ${key}`).toBe(Number(row['v']))
      rows.delete(key)
    } else rows.set(key, Number(row['v']))
  }
  return rows
}

test(
  `${KILLS} kills of changes by key and filter lose nothing, and every kept version stays as it was`,
  async () => {
    let id: number
    {
      await using engine = await openEngine({ directory, role: 'server', threads: 1, workers: 1, keep: KEEP })
      const repository = await engine.createRepository({ name: 'r' })
      const columns = ['k', 'v'].map((name) => ({ name, type: 'integer' as const }))
      id = (await engine.createDataset({ repositoryId: repository.id, name: 'd', columns, key: ['k'] })).id
    }
    const known = new Map<number, Rows>([[0, new Map()]])
    let acknowledged = 0
    for (let round = 0; round < KILLS; round++) {
      const writer = spawn(
        process.execPath,
        [join(import.meta.dirname, 'writer.ts'), directory, String(id), String(round + 1)],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      )
      const told: (Partial<Change> & { done?: boolean; ready?: boolean })[] = []
      const last = 2 + Math.floor(Math.random() * 30)
      for await (const line of createInterface({ input: writer.stdout })) {
        told.push(JSON.parse(line))
        if (told.length === last) sleep(Math.random() * 200).then(() => writer.kill('SIGKILL'))
      }
      let newest = Math.max(...known.keys())
      let pending: Change | undefined
      for (const line of told) {
        if (line.kind) pending = line as Change
        if (!line.done) continue
        acknowledged += 1
        // A change of no row makes no version.
        const rows = after(known.get(newest)!, pending!, known)
        newest = line.version!
        known.set(newest, rows)
        pending = undefined
      }
      await using engine = await openEngine({ directory, role: 'server', threads: 1, workers: 1, keep: KEEP })
      await engine.settled()
      expect(leftovers(directory, (await engine.gc()).files)).toEqual([])
      expect((await engine.verify()).problems).toEqual([])
      const dataset = await engine.dataset(id)
      const { version } = await dataset.record()
      expect([newest, newest + (pending ? 1 : 0)]).toContain(version)
      if (version > newest) known.set(version, after(known.get(newest)!, pending!, known))
      const kept = (await dataset.versions({ limit: 1000 })).map(({ number }) => number)
      for (const number of kept) {
        const rows = await rowsOf(dataset, number)
        expect(sorted(rows), `version ${number}`).toEqual(sorted(known.get(number)!))
        if (!kept.includes(number + 1)) continue
        const next = await changed(dataset, rows, number)
        expect(sorted(next), `changes since ${number}`).toEqual(sorted(known.get(number + 1)!))
      }
    }
    console.log(`versions: ${KILLS} kills, ${acknowledged} changes acknowledged, 0 lost`)
  },
  KILLS * 60_000 + 60_000,
)
