import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { version } from '@duckdb/node-api'
import { afterAll, expect, test } from 'vitest'
import { HAS_CLUSTER } from '../nodes/cluster.ts'
import { ClusterTables, openDuckDB, PARTS } from './cluster-tables.ts'

/** In the order in which they are loaded: each needs those before it. */
const EXTENSIONS = ['httpfs', 'avro', 'iceberg']

const folder = mkdtempSync(join(tmpdir(), 'parquetry-extensions-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Gives the folder of the extensions, from PyPI; PARQUETRY_DUCKDB_EXTENSIONS names one in which they are already. */
function extensions(): string | undefined {
  const given = process.env['PARQUETRY_DUCKDB_EXTENSIONS']
  if (given) return given
  const packages = EXTENSIONS.map((name) => `duckdb-extension-${name}==${version().slice(1)}`)
  const options = ['--quiet', '--no-deps', '--only-binary', ':all:', '--target', folder]
  const done = spawnSync('python3', ['-m', 'pip', 'install', ...options, ...packages]).status === 0
  if (!done)
    console.warn(`DuckDB's extension iceberg is NOT TRIED: pip can't install ${packages.join(', ')}.`)
  return done ? folder : undefined
}

const place = HAS_CLUSTER ? extensions() : undefined
test.runIf(place)(
  "DuckDB's extension reads in a cluster what its key may read, and skips files",
  async () => {
    await using tables = await ClusterTables.start()
    const { connection, close } = await openDuckDB()
    const ask = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson() as string[][]
    for (const name of EXTENSIONS) {
      await ask(`LOAD '${place}/duckdb_extension_${name}/extensions/${version()}/${name}.duckdb_extension'`)
    }
    const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = process.env
    const host = new URL(tables.cluster.store.endpoint).host
    await ask(
      `CREATE SECRET (TYPE s3, KEY_ID '${id}', SECRET '${secret}', ENDPOINT '${host}', URL_STYLE 'path', USE_SSL false)`,
    )
    await ask(`ATTACH '' AS lake (TYPE iceberg, ENDPOINT '${tables.catalog}', TOKEN '${tables.reader}')`)

    expect(await ask('SELECT schema, name FROM (SHOW ALL TABLES) ORDER BY name')).toEqual([
      ['tables', 'bytes'],
      ['tables', 'every type'],
      ['tables', 'many'],
      ['tables', 'moving'],
    ])
    expect(await ask('SELECT column_name, column_type FROM (DESCRIBE lake.tables."every type")')).toEqual([
      ['n', 'BIGINT'],
      ['flag', 'BOOLEAN'],
      ['d', 'DOUBLE'],
      ['price', 'DECIMAL(20,3)'],
      ['word', 'VARCHAR'],
      ['day', 'DATE'],
      ['clock', 'TIME'],
      ['moment', 'TIMESTAMP'],
      ['instant', 'TIMESTAMP WITH TIME ZONE'],
      ['id', 'UUID'],
      ['j', 'VARCHAR'],
    ])
    const rows = async (table: string) =>
      tables.sameText(await ask(`SELECT COLUMNS(*)::VARCHAR FROM lake.tables."${table}"`))
    await ask("SET TimeZone = 'UTC'")
    for (const name of ['every type', 'many']) {
      const expected = await tables.rows(name)
      expect(await ask(`SELECT count(*) FROM lake.tables."${name}"`)).toEqual([[String(expected.length)]])
      expect(await rows(name)).toEqual(expected)
    }
    expect(await ask('SELECT hex(bytes) FROM lake.tables.bytes')).toEqual([['00FF'], [null], ['']])
    const few = 'SELECT count(*) FROM lake.tables.many WHERE n >= 10000'
    expect(await ask(few)).toEqual([['5000']])
    const filesRead = async (sql: string) =>
      Number(/Total Files Read: (\d+)/.exec((await ask(`EXPLAIN ANALYZE ${sql}`))[0]![1]!)![1])
    expect([await filesRead(few), await filesRead('FROM lake.tables.many')]).toEqual([1, PARTS])

    const before = await tables.rows('moving')
    expect(await rows('moving')).toEqual(before)
    await tables.move()
    const after = await tables.rows('moving')
    expect(after).not.toEqual(before)
    expect(await rows('moving@2')).toEqual(after)
    expect(await rows('moving@1')).toEqual(before)

    await expect(ask('FROM lake.secret.secret')).rejects.toThrow('schema "secret" does not exist')
    await expect(ask('DROP TABLE lake.tables.moving')).rejects.toThrow('This catalog is read-only')
    await expect(
      ask(`ATTACH '' AS wrong (TYPE iceberg, ENDPOINT '${tables.catalog}', TOKEN 'wrong')`),
    ).rejects.toThrow('Unauthorized')
    close()
  },
)
