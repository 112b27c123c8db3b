import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Engine, EngineError, openEngine } from '../../engine/index.ts'
import { attacks } from './attacks.ts'

const SECRET = 'SECRET-OF-ANOTHER'
const REFUSED = ['invalid_sql', 'sql_not_allowed', 'unknown_table']

let directory: string
let engine: Engine

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parquetry-attacks-'))
  engine = await openEngine({ directory, threads: 2 })
  for (const [repository, name, text] of [
    ['ours', 'mine', 'n\n1\n2\n'],
    ['theirs', 'hidden', `n,secret\n1,${SECRET}\n`],
  ] as const) {
    const { id: repositoryId } = await engine.createRepository({ name: repository })
    const { id } = await engine.createDataset({ repositoryId, name })
    await (await engine.dataset(id)).replace({ format: 'csv', body: Readable.from([Buffer.from(text)]) })
  }
})

afterAll(async () => {
  await engine.close()
  await rm(directory, { recursive: true, force: true })
})

const onlyOurs = async () => (await engine.sqlTables()).filter(({ repository }) => repository === 'ours')

/** What a statement answers, or the code of its error. */
async function ask(sql: string): Promise<string> {
  try {
    using query = await engine.sql(sql, undefined, { tables: onlyOurs, top: 100 })
    const rows: unknown[] = []
    for await (const row of query.rows()) rows.push(row)
    return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  } catch (error) {
    if (error instanceof EngineError) {
      // A message shows no path but those of the statement itself.
      for (const [path] of error.message.matchAll(/\/[\w.-]+\/[\w./-]+/g)) expect(sql).toContain(path)
      expect(error.message).not.toContain(SECRET)
      return error.code
    }
    throw error
  }
}

test('none of a thousand attacks reads, writes or waits', { timeout: 600_000 }, async () => {
  const parts = join(directory, 'parts')
  const file = join(parts, readdirSync(parts).find((name) => name.endsWith('.parquet'))!)
  const statements = attacks(file, parts)
  expect(statements.length).toBeGreaterThan(1_500)
  const wrong: string[] = []
  for (const statement of statements) {
    const answer = await ask(statement)
    if (!REFUSED.includes(answer)) wrong.push(`${statement} -> ${answer}`)
  }
  expect(wrong).toEqual([])
  expect(await ask('SELECT n FROM mine')).toBe('[{"n":1},{"n":2}]')
})
