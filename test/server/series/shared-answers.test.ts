import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Engine, migrate, openEngine } from '../../../engine/index.ts'
import { SERVER_STEPS } from '../../../server/accounts/schema.ts'
import { ProviderAnswers } from '../../../server/providers.ts'

const HOUR = 3_600_000

let directory: string
let engine: Engine
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'parquetry-answers-'))
  engine = await openEngine({ directory, threads: 1, workers: 1 })
  await migrate(engine.database, 'server', SERVER_STEPS)
})
afterAll(async () => {
  await engine.close()
  rmSync(directory, { recursive: true })
})

it('a shared answer that this Node.js can not read is fetched again, once', async () => {
  const warn = vi.fn()
  const answers = new ProviderAnswers(engine.database, warn)
  const fetch = vi.fn(async () => ({ n: fetch.mock.calls.length }))
  const read = () => answers.read('question', HOUR, fetch, AbortSignal.timeout(2_000))
  expect(await read()).toMatchObject({ value: { n: 1 } })
  expect(await read()).toMatchObject({ value: { n: 1 } })
  await engine.database.run('UPDATE provider_answers SET value = ?', Buffer.from('of a later version'))
  expect(await read()).toMatchObject({ value: { n: 2 } })
  expect(await read()).toMatchObject({ value: { n: 2 } })
  expect(warn).toHaveBeenCalledTimes(1)
})
