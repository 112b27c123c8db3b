import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PostgresDatabase } from '../../engine/catalog/postgres/postgres.ts'
import { SqliteDatabase } from '../../engine/catalog/sqlite.ts'
import { type Postgres, postgresPrograms, startPostgres } from '../cluster/postgres.ts'

const programs = postgresPrograms()
const folder = mkdtempSync(join(tmpdir(), 'parquetry-unavailable-'))
let postgres: Postgres | undefined

beforeAll(async () => {
  postgres = programs ? await startPostgres({ programs }) : undefined
}, 60_000)
afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

it('an SQLite file that can not be opened beside a transaction is a fault of the machine', async () => {
  const file = join(folder, 'moved.sqlite')
  const database = new SqliteDatabase(file)
  await database.transaction(async () => {
    renameSync(file, `${file}.aside`)
    await expect(database.get('SELECT 1')).rejects.toMatchObject({ code: 'storage_read_only' })
    renameSync(`${file}.aside`, file)
    expect(await database.get('SELECT 1 AS n')).toEqual({ n: 1 })
  })
  await database.close()
})

describe.runIf(programs)('a PostgreSQL that is down', () => {
  it('is said in one sentence, and used again once it is up', async () => {
    const database = await PostgresDatabase.open(postgres!.url)
    await postgres!.kill()
    const down = {
      code: 'catalog_unavailable',
      message: 'The database does not answer. Try again in a moment.',
    }
    await expect(database.get('SELECT 1 AS one')).rejects.toMatchObject(down)
    await expect(database.transaction((t) => t.get('SELECT 1 AS one'))).rejects.toMatchObject(down)
    await postgres!.start()
    expect(await database.get('SELECT 1 AS one')).toEqual({ one: 1 })
    await database.close()
  }, 60_000)

  it('that is lost after a change leaves the outcome unknown to who is told one of all', async () => {
    const database = await PostgresDatabase.open(postgres!.url)
    const read = () => database.get('SELECT 1 AS one').catch((error) => error.code)
    const written = await database.answering(async () => {
      await database.exec('CREATE TABLE IF NOT EXISTS changed (id BIGINT)')
      await postgres!.kill()
      return read()
    })
    expect(written).toBe('outcome_unknown')
    expect(await database.answering(read)).toBe('catalog_unavailable')
    await postgres!.start()
    await database.close()
  }, 60_000)

  it('that is lost while it commits leaves the outcome unknown', async () => {
    const database = await PostgresDatabase.open(postgres!.url)
    const lost = database.transaction(async (t) => {
      await t.exec('CREATE TABLE IF NOT EXISTS nothing (id BIGINT)')
      await t.exec(
        `CREATE OR REPLACE FUNCTION fall() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); RETURN NULL; END'`,
      )
      await t.exec(
        'CREATE CONSTRAINT TRIGGER falls AFTER INSERT ON nothing DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fall()',
      )
      await t.exec('INSERT INTO nothing VALUES (1)')
    })
    await expect(lost).rejects.toMatchObject({ code: 'outcome_unknown' })
    expect(await database.hasTable('nothing')).toBe(false)
    await database.close()
  })
})

it('SQLite waits for the transaction of another process, and goes on with everything else meanwhile', async () => {
  const file = join(folder, 'locked.sqlite')
  await using database = new SqliteDatabase(file)
  await database.transaction((t) => t.exec('CREATE TABLE things (id INTEGER PRIMARY KEY)'))
  using other = new DatabaseSync(file)
  other.exec('BEGIN IMMEDIATE; INSERT INTO things VALUES (1)')
  const inserted = database.insert('INSERT INTO things VALUES (2)')
  expect(await database.get('SELECT count(*) AS n FROM things')).toEqual({ n: 0 })
  await sleep(100)
  other.exec('COMMIT')
  expect(await inserted).toBe(2)
  expect(await database.get('SELECT count(*) AS n FROM things')).toEqual({ n: 2 })
})
