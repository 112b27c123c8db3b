import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Engine, openEngine } from '../../engine/index.ts'
import { buildShim, type Call, type Ran, type Rule } from './shim.ts'

const shim = buildShim()
const program = join(import.meta.dirname, 'replacer.ts')
const folder = mkdtempSync(join(tmpdir(), 'parquetry-commit-'))
const before = join(folder, 'before')
let runs = 0

function upload(text: string) {
  const body = (async function* () {
    yield Buffer.from(`text\n${`${text}\n`.repeat(1_000)}`)
  })()
  return { format: 'csv' as const, body }
}

beforeAll(async () => {
  await using engine = await openEngine({ directory: before, role: 'server', threads: 1, workers: 1 })
  const { id: repositoryId } = await engine.createRepository({ name: 'r' })
  for (const name of ['d', 'e']) {
    const { id } = await engine.createDataset({ repositoryId, name })
    await (await engine.dataset(id)).replace(upload('old'))
  }
})
afterAll(() => {
  shim?.[Symbol.dispose]()
  rmSync(folder, { recursive: true })
})

/** What dataset 1 holds: one text, in a thousand rows. */
async function held(engine: Engine): Promise<string> {
  using query = await (await engine.dataset(1)).query()
  const texts = new Set<unknown>()
  let count = 0
  for await (const row of query.rows()) {
    texts.add(row['text'])
    count += 1
  }
  expect({ texts: texts.size, count }).toEqual({ texts: 1, count: 1_000 })
  return String([...texts][0])
}

interface Survived {
  readonly ran: Ran
  /** How the replacement was answered. */
  readonly replaced: unknown
  /** Which rows the next start found. */
  readonly text: string
}

/** Runs the replacer under faults on a copy of the data, opens what it left, and holds the promises against it. */
async function survive(rules: readonly Rule[]): Promise<Survived> {
  const directory = join(folder, `run-${++runs}`)
  cpSync(before, directory, { recursive: true })
  const ran = await shim!.run(program, [directory, 'server'], rules)
  expect(ran.signal, ran.errors).toBeNull()
  const outcome = (step: string) => ran.told.find((line) => line['step'] === step)?.['outcome']
  const replaced = outcome('replace')
  const stopped = ran.told.findIndex((line) => line['event'] === 'writes_stopped')
  expect(outcome('read')).toBe('done')
  expect(outcome('close')).toBe('done')
  if (stopped >= 0) {
    expect(ran.told.filter((line) => line['event'] === 'writes_stopped')).toHaveLength(1)
    // The step that was under way may have done its work before a removal behind it failed; none after it writes.
    const [, ...later] = ran.told.slice(stopped).filter((line) => line['step'] !== undefined)
    for (const { step, outcome } of later) {
      if (step === 'again' || step === 'rename') expect(outcome).toBe('writes_stopped')
    }
  }
  let text: string
  {
    await using engine = await openEngine({ directory, role: 'server', threads: 1, workers: 1 })
    text = await held(engine)
    const possible = replaced === 'done' ? ['new'] : replaced === 'outcome_unknown' ? ['old', 'new'] : ['old']
    if (!(replaced === 'storage_full' && stopped >= 0)) expect(possible).toContain(text)
    expect((await engine.verify()).problems).toEqual([])
    await engine.settled()
    await engine.gc()
    expect((await engine.verify()).problems).toEqual([])
  }
  rmSync(directory, { recursive: true })
  return { ran, replaced, text }
}

const CATALOG = '*/catalog.sqlite*'

/** SQLite syncs with the one, the catalog its log with the other. */
const SYNCS = ['fsync', 'fdatasync'] as const

/** How many such calls a run without faults makes. */
async function count(calls: readonly Call[], path: RegExp): Promise<number> {
  const { ran } = await survive([])
  return ran.seen.filter((one) => calls.includes(one.call) && path.test(one.path)).length
}

/** PARQUETRY_FAULTS=1 tries every point. */
const EVERY = process.env['PARQUETRY_FAULTS'] ? 1 : 4
/** Each point is a process of its own, and a start behind it. */
const LONG = 600_000

describe.runIf(shim)('a replacement while the disk fails keeps the rows of one version whole', () => {
  test(
    'when a sync of the catalog and all writes after it fail, whichever it is',
    async () => {
      const syncs = await count(SYNCS, /catalog.sqlite/)
      expect(syncs).toBeGreaterThan(4)
      const outcomes: Survived[] = []
      for (let nth = 1; nth <= syncs; nth++) {
        for (const error of ['EIO', 'ENOSPC'] as const) {
          outcomes.push(
            await survive([{ calls: SYNCS, andThen: ['pwrite'], nth, error, mode: 'on', path: CATALOG }]),
          )
        }
      }
      // One of them is the commit that SQLite finds in its log though it reported its failure: the rows are then the new.
      expect(outcomes.some(({ replaced, text }) => replaced !== 'done' && text === 'new')).toBe(true)
      expect(outcomes.some(({ replaced }) => replaced === 'storage_full')).toBe(true)
      expect(outcomes.some(({ replaced }) => replaced === 'outcome_unknown')).toBe(true)
    },
    LONG,
  )

  test(
    'when one sync of the catalog fails and the disk is well again',
    async () => {
      const syncs = await count(SYNCS, /catalog.sqlite/)
      for (let nth = 1; nth <= syncs; nth += EVERY) {
        await survive([{ calls: SYNCS, nth, error: 'EIO', mode: 'once', path: CATALOG }])
      }
    },
    LONG,
  )

  test(
    'when a write of the catalog fails, once or from then on',
    async () => {
      const writes = await count(['pwrite'], /catalog.sqlite/)
      for (let nth = 1; nth <= writes; nth += EVERY) {
        const error = nth % 2 ? 'EIO' : 'ENOSPC'
        await survive([{ calls: ['pwrite'], nth, error, mode: nth % 8 < 4 ? 'on' : 'once', path: CATALOG }])
      }
    },
    LONG,
  )

  test('when files of parts can not be removed, and the replacement is answered as done', async () => {
    const { ran, replaced } = await survive([
      { calls: ['unlink'], nth: 1, error: 'EIO', mode: 'on', path: '*/parts/*' },
    ])
    expect(replaced).toBe('done')
    expect(ran.told).toContainEqual({ event: 'file_left' })
  })
})
