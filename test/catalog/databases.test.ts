import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../engine/catalog/database.ts'
import { Datasets } from '../../engine/catalog/datasets.ts'
import { isUniqueViolation } from '../../engine/catalog/failures.ts'
import { Parts } from '../../engine/catalog/parts.ts'
import { PostgresDatabase } from '../../engine/catalog/postgres/postgres.ts'
import type { Part } from '../../engine/catalog/records.ts'
import { Repositories } from '../../engine/catalog/repositories.ts'
import { CATALOG_STEPS, migrate } from '../../engine/catalog/schema.ts'
import { SqliteDatabase } from '../../engine/catalog/sqlite.ts'
import { Versions } from '../../engine/catalog/versions.ts'
import { SERVER_STEPS } from '../../server/accounts/schema.ts'
import { type Postgres, postgresPrograms, startPostgres } from '../cluster/postgres.ts'

const programs = postgresPrograms()
let postgres: Postgres | undefined
let folder: string
let made = 0

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parquetry-databases-'))
  postgres = programs ? await startPostgres({ programs }) : undefined
}, 60_000)
afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** A database, empty, of which a second connection can be had. */
const KINDS = {
  SQLite: async () => {
    const file = join(folder, `${++made}.sqlite`)
    return { open: async () => new SqliteDatabase(file) }
  },
  PostgreSQL: async () => {
    const url = await postgres!.database(`test${++made}`)
    return { open: () => PostgresDatabase.open(url) }
  },
}

describe.each(Object.keys(KINDS) as (keyof typeof KINDS)[])('%s', (kind) => {
  describe.runIf(kind === 'SQLite' || programs)('as the catalog', () => {
    let database: Database
    let other: Database
    beforeEach(async () => {
      const { open } = await KINDS[kind]()
      database = await open()
      await migrate(database, 'catalog', CATALOG_STEPS)
      await migrate(database, 'server', SERVER_STEPS)
      other = await open()
    })
    afterEach(async () => {
      await database.close()
      await other.close()
    })

    const names = async (of: Pick<Database, 'all'>) =>
      (await of.all<{ name: string }>('SELECT name FROM repositories ORDER BY id')).map(({ name }) => name)

    it('shows nothing of a transaction before it is committed, and nothing after it is taken back', async () => {
      const repositories = new Repositories(database)
      await repositories.create({ name: 'before' })
      const failed = database.transaction(async (t) => {
        await new Repositories(t).create({ name: 'within' })
        await turn()
        expect(await names(t)).toEqual(['before', 'within'])
        expect(await names(database)).toEqual(['before'])
        expect(await names(other)).toEqual(['before'])
        throw new Error('no')
      })
      await expect(failed).rejects.toThrow('no')
      expect(await names(database)).toEqual(['before'])
    })

    it('takes no statement of others into a transaction that waits', async () => {
      const writes = [1, 2, 3].map((n) => new Repositories(database).create({ name: `${n}` }))
      const failed = database.transaction(async (t) => {
        await new Repositories(t).create({ name: 'within' })
        for (let n = 0; n < 5; n++) await turn()
        throw new Error('no')
      })
      const later = [4, 5, 6].map((n) => new Repositories(database).create({ name: `${n}` }))
      await expect(failed).rejects.toThrow('no')
      await Promise.all([...writes, ...later])
      expect((await names(database)).sort()).toEqual(['1', '2', '3', '4', '5', '6'])
    })

    it('takes back a part of a transaction alone', async () => {
      await database.transaction(async (t) => {
        await new Repositories(t).create({ name: 'kept' })
        const part = t.transaction(async (nested) => {
          await new Repositories(nested).create({ name: 'taken back' })
          throw new Error('no')
        })
        await expect(part).rejects.toThrow('no')
      })
      expect(await names(database)).toEqual(['kept'])
    })

    it('refuses a transaction that writes past its handle, and one that is used after its end', async () => {
      const past = database.transaction(() => database.run('DELETE FROM repositories'))
      await expect(past).rejects.toThrow('past its own handle')
      const kept = await database.transaction(async (t) => t)
      await expect(kept.run('DELETE FROM repositories')).rejects.toThrow('after its end')
    })

    it('gives ids, numbers of rows, the newest id, and tells a violated UNIQUE from others', async () => {
      expect(await database.newestId('repositories')).toBe(0)
      const { id } = await new Repositories(database).create({ name: 'a' })
      expect(await database.newestId('repositories')).toBe(id)
      expect(await database.run('UPDATE repositories SET name = ?', 'b')).toBe(1)
      const datasets = new Datasets(database)
      await datasets.create({ repositoryId: id, name: 'd', columns: [] })
      await expect(datasets.create({ repositoryId: id, name: 'd', columns: [] })).rejects.toMatchObject({
        code: 'name_taken',
      })
      await expect(datasets.create({ repositoryId: 99, name: 'd', columns: [] })).rejects.toMatchObject({
        code: 'not_found',
      })
      const account = () =>
        database.insert(
          "INSERT INTO accounts (name, plan, admin, key_hash, key_hint, created_at) VALUES ('a', 'free', 0, ?, '', '')",
          new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8, 9]),
        )
      expect(await account()).toBe(1)
      expect(await account().catch(isUniqueViolation)).toBe(true)
      const key = await database.get<{ start: Uint8Array }>('SELECT key_index AS start FROM accounts')
      expect([...key!.start]).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
      expect(await database.hasTable('parts')).toBe(true)
      expect(await database.hasTable('nothing')).toBe(false)
    })

    it('puts concurrent changes of one dataset into an order, none lost, from both ends', async () => {
      const { id: repositoryId } = await new Repositories(database).create({ name: 'r' })
      const { id } = await new Datasets(database).create({ repositoryId, name: 'd', columns: [] })
      const append = async (on: Database) => {
        const part = await newPart(on)
        await commit(on, id, (parts) => [...parts, part])
      }
      await Promise.all(Array.from({ length: 30 }, (_, n) => append(n % 2 ? database : other)))
      const current = await new Versions(database).current(id)
      expect(current).toMatchObject({ number: 30, rows: 30, bytes: 300 })
      expect(new Set(current.parts.map((part) => part.id)).size).toBe(30)
      expect(await new Versions(database).reclaim()).toEqual([])
      expect(await database.all('SELECT id FROM versions')).toHaveLength(1)
      const pages = await Array.fromAsync(new Datasets(database).pages(0))
      expect(pages).toMatchObject([[{ id, name: 'd', columnCount: 0, rowCount: 30 }]])
    })

    it('commits no part that was given up, because its process was taken for dead', async () => {
      const { id: repositoryId } = await new Repositories(database).create({ name: 'r' })
      const { id } = await new Datasets(database).create({ repositoryId, name: 'd', columns: [] })
      const [kept, lost] = [await newPart(database), await newPart(database)]
      await commit(database, id, () => [kept])
      await database.run('UPDATE parts SET process = NULL WHERE id = ?', lost.id)
      const late = database.transaction(async (t) => {
        await t.lock('datasets', id)
        const versions = new Versions(t)
        const current = await versions.current(id)
        const made = new Set([lost.id])
        await versions.commit(id, current, { columns: [], key: [], parts: [kept, lost], number: 2, made })
      })
      await expect(late).rejects.toMatchObject({ code: 'catalog_unavailable' })
      expect((await new Versions(database).current(id)).parts).toEqual([kept])
      // A part that a version has already is in the next one, too.
      expect(await commit(database, id, (parts) => [...parts, kept].slice(0, 1))).toEqual([kept])
    })

    it('knows nothing of what a transaction read that was rolled back', async () => {
      const { id: repositoryId } = await new Repositories(database).create({ name: 'r' })
      const { id } = await new Datasets(database).create({ repositoryId, name: 'd', columns: [] })
      const [first, second] = [await newPart(database), await newPart(database)]
      const versions = new Versions(database)
      const write = (part: Part, end: () => void) =>
        database.transaction(async (t) => {
          await t.lock('datasets', id)
          const current = await versions.in(t).current(id)
          await versions.in(t).commit(id, current, { columns: [], key: [], parts: [part], number: 1 })
          expect((await versions.in(t).current(id)).parts).toEqual([part])
          end()
        })
      const fails = () => {
        throw new Error('rolled back')
      }
      await expect(write(first, fails)).rejects.toThrow('rolled back')
      // In SQLite, this version gets the id of the one that never was.
      await write(second, () => {})
      expect((await versions.current(id)).parts).toEqual([second])
    })

    it('writes the parts of a version once, however many versions have them, and knows those of each', async () => {
      const { id: repositoryId } = await new Repositories(database).create({ name: 'r' })
      const { id } = await new Datasets(database).create({ repositoryId, name: 'd', columns: [] })
      const other = await new Datasets(database).create({ repositoryId, name: 'other', columns: [] })
      const made: Part[] = []
      while (made.length < 44) made.push(await newPart(database))
      const changes: ((parts: readonly Part[]) => readonly Part[])[] = [
        ...made.slice(0, 40).map((part) => (parts: readonly Part[]) => [...parts, part]),
        (parts) => parts.toSpliced(30, 8, made[40]!),
        (parts) => [...parts, made[41]!],
        () => [made[42]!],
      ]
      await commit(database, other.id, () => [made[43]!])
      const wanted: number[][] = []
      for (const change of changes) {
        const parts = await commit(database, id, change)
        wanted.push(parts.map((part) => part.id))
      }
      const written = await database.all('SELECT 1 FROM part_ranges')
      // 40 appends, a merge that two parts come after, an append, a replace; and the part of the other dataset.
      expect(written).toHaveLength(40 + 3 + 1 + 1 + 1)
      const found = async () => {
        const lists = new Map<number, number[]>()
        const rows = await database.all<{ number: number; part: number }>(
          `SELECT v.number, vp.part_id AS part FROM versions v JOIN version_parts vp ON vp.version_id = v.id
           WHERE v.dataset_id = ? ORDER BY v.id, vp.position`,
          id,
        )
        for (const { number, part } of rows) lists.set(number, [...(lists.get(number) ?? []), part])
        return lists
      }
      expect(await found()).toEqual(new Map(wanted.map((parts, index) => [index + 1, parts])))
      const versions = new Versions(database)
      const early = await database.get<{ id: number }>(
        'SELECT id FROM versions WHERE dataset_id = ? AND number = 39',
        id,
      )
      await database.run('INSERT INTO leases VALUES (?, ?)', early!.id, 'a reader')
      const removed = await versions.reclaim()
      expect(removed.map((part) => part.id).toSorted((a, b) => a - b)).toEqual(
        made.slice(39, 42).map((part) => part.id),
      )
      expect(await found()).toEqual(
        new Map([
          [39, wanted[38]],
          [43, wanted[42]],
        ]),
      )
      await database.run('DELETE FROM leases WHERE version_id = ?', early!.id)
      expect(await versions.reclaim()).toHaveLength(39)
      await new Datasets(database).delete(id)
      expect(await versions.reclaim()).toHaveLength(1)
      expect(await database.all('SELECT dataset_id AS id, part_id AS part FROM part_ranges')).toEqual([
        { id: other.id, part: made[43]!.id },
      ])
    })

    it('recalls until something is written, here or elsewhere', async () => {
      let readings = 0
      const read = () =>
        database.cached('names', async () => {
          readings += 1
          return names(database)
        })
      expect(await read()).toEqual([])
      expect(await read()).toEqual([])
      expect(readings).toBe(1)
      await new Repositories(database).create({ name: 'a' })
      expect(await read()).toEqual(['a'])
      await new Repositories(other).create({ name: 'b' })
      await expect.poll(read).toEqual(['a', 'b'])
      const exact = () => database.cached('exact', () => names(database), { exact: true })
      await exact()
      await new Repositories(other).create({ name: 'c' })
      expect(await exact()).toEqual(['a', 'b', 'c'])
    })

    describe('keeps what it recalls of other things than those that a transaction says it changes', () => {
      const read = { one: 0, two: 0 }
      const cached = (name: 'one' | 'two') => database.cached(name, async () => ++read[name])
      const both = async () => [await cached('one'), await cached('two')]
      const change = (on: Database, changes?: readonly string[]) =>
        on.transaction((t) => t.run("UPDATE repositories SET name = 'x'"), changes ? { changes } : {})
      beforeEach(async () => {
        Object.assign(read, { one: 0, two: 0 })
        await change(database)
        // By then it has heard of what was written while the databases were opened.
        await database.cached('anything', async () => 0, { exact: true })
        expect(await both()).toEqual([1, 1])
      })

      it('made by itself', async () => {
        await change(database, ['one'])
        await change(database, [])
        await database.transient((t) => t.run("UPDATE repositories SET name = 'y'"))
        const [one, two] = await both()
        expect(one).toBeGreaterThan(1)
        expect(two).toBe(1)
        await change(database)
        expect(await cached('two')).toBeGreaterThan(1)
      })

      // SQLite says that others have written something, and not what.
      it.runIf(kind === 'PostgreSQL')('made by others', async () => {
        await change(other, ['one'])
        await expect.poll(() => cached('one')).toBe(2)
        await change(other, [])
        expect(await both()).toEqual([2, 1])
        await change(
          other,
          Array.from({ length: 1_000 }, (_, n) => `a long list ${n}`),
        )
        await expect.poll(() => cached('two')).toBe(2)
        await change(other)
        await expect.poll(() => cached('two')).toBe(3)
      })
    })

    it('recalls nothing older than an exact value that was asked for before', async () => {
      const repositories = new Repositories(other)
      const { id } = await repositories.create({ name: 'first' })
      const read = (name: string, exact: boolean) =>
        database.cached(name, async () => (await new Repositories(database).get(id)).name, { exact })
      for (let n = 0; n < 200; n++) {
        await repositories.update(id, { name: `${n}` })
        const exact = await Promise.all(Array.from({ length: 5 }, () => read('exact', true)))
        expect(exact).toEqual(Array.from({ length: 5 }, () => `${n}`))
        expect(await read('recalled', false)).toBe(`${n}`)
      }
    })
  })
})

async function newPart(on: Database): Promise<Part> {
  const parts = new Parts(on)
  const id = await parts.register('me')
  const part = { id, rows: 1, bytes: 10, rawBytes: 10, hash: null, statistics: null }
  await parts.describe(part)
  return part
}

/** Makes a version whose parts follow from those of the current one; gives them. */
function commit(on: Database, datasetId: number, next: (parts: readonly Part[]) => readonly Part[]) {
  return on.transaction(async (t) => {
    await t.lock('datasets', datasetId)
    const versions = new Versions(t)
    const current = await versions.current(datasetId)
    const parts = next(current.parts)
    await versions.commit(datasetId, current, { columns: [], key: [], parts, number: current.number + 1 })
    return parts
  })
}
