import { expect, test } from 'vitest'
import { ClusterTables } from '../iceberg/cluster-tables.ts'
import { HAS_CLUSTER } from '../nodes/cluster.ts'
import { askTrino } from './ask.ts'
import { TRINO_PROGRAM, TrinoServer } from './trino-server.ts'

test.runIf(TRINO_PROGRAM && HAS_CLUSTER)(
  'Trino lists, describes and reads in a cluster what its key may read, and skips files',
  { timeout: 300_000 },
  async () => {
    await using tables = await ClusterTables.start()
    await using trino = await TrinoServer.start({
      catalog: tables.catalog,
      key: tables.reader,
      store: tables.cluster.store,
    })
    const ask = (sql: string) => askTrino(trino.url, sql)
    const schema = `r${tables.repository}`
    const nameOf = (table: string) => `${schema}.d${tables.ids[table]}`
    const rows = async (name: string) => {
      const texts = tables.columns.map((_, index) => `CAST(c${index} AS VARCHAR)`)
      return tables.sameText((await ask(`SELECT ${texts} FROM ${name}`)) as (string | null)[][])
    }

    expect(await ask("SHOW SCHEMAS LIKE 'r%'")).toEqual([[schema]])
    const names = Object.values(tables.ids).map((id) => [`d${id}`])
    expect((await ask(`SHOW TABLES FROM ${schema}`)).toSorted()).toEqual(names.toSorted())
    expect((await ask(`DESCRIBE ${nameOf('every type')}`)).map(([name, type]) => [name, type])).toEqual([
      ['c0', 'bigint'],
      ['c1', 'boolean'],
      ['c2', 'double'],
      ['c3', 'decimal(20,3)'],
      ['c4', 'varchar'],
      ['c5', 'date'],
      ['c6', 'time(6)'],
      ['c7', 'timestamp(6)'],
      ['c8', 'timestamp(6) with time zone'],
      ['c9', 'uuid'],
      ['c10', 'varchar'],
      ['r', 'bigint'],
      ['f', 'bigint'],
    ])
    for (const name of ['every type', 'many'])
      expect(await rows(nameOf(name))).toEqual(await tables.rows(name))
    expect(await ask(`SELECT to_hex(c0) FROM ${nameOf('bytes')} ORDER BY f + r`)).toEqual([
      ['00FF'],
      [null],
      [''],
    ])
    const [[plan] = []] = await ask(
      `EXPLAIN ANALYZE SELECT count(c1) FROM ${nameOf('many')} WHERE c0 >= 10000`,
    )
    // Each of the parts has so many.
    expect(plan).toContain('Input: 5000 rows')

    const before = await tables.rows('moving')
    await tables.move()
    expect(await rows(nameOf('moving'))).toEqual(await tables.rows('moving'))
    expect(await rows(`${nameOf('moving')}_1`)).toEqual(before)
    await expect(ask('SELECT * FROM r1.d1')).rejects.toThrow('Failed to load table: d1 in r1')
    await expect(ask(`DROP TABLE ${nameOf('moving')}`)).rejects.toThrow('Access Denied')
  },
)
