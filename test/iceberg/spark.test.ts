import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { HAS_CLUSTER } from '../nodes/cluster.ts'
import { COLUMNS } from '../trino/every-type.ts'
import { ClusterTables, PARTS } from './cluster-tables.ts'

/** A Python with pyspark 3.5, in whose folder `jars` are the two packages of Iceberg. */
const python = process.env['PARQUETRY_SPARK']
if (!python) {
  console.warn(
    'Spark is NOT TRIED: PARQUETRY_SPARK names no Python that has it. pip install pyspark==3.5.7, put ' +
      'iceberg-spark-runtime-3.5_2.12 and iceberg-aws-bundle (Maven Central, org.apache.iceberg) into its folder jars, ' +
      'and have a Java 17.',
  )
}

test.runIf(python && HAS_CLUSTER)(
  'Spark reads in a cluster what its key may read, and skips files',
  { timeout: 300_000 },
  async () => {
    // Spark has no times of day, and reads no table that has a column of them.
    await using tables = await ClusterTables.start(COLUMNS.filter(({ type }) => type !== 'time'))
    await tables.cluster.dataset(tables.node, 'times', 'n,clock\n1,12:00:00\n')
    const child = spawn(python!, [join(import.meta.dirname, 'spark.py'), tables.catalog, tables.reader], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, AWS_REGION: undefined, TZ: 'UTC' },
    })
    let complaints = ''
    child.stderr.on('data', (text) => (complaints += text))
    const ended = once(child, 'close')
    const before = await tables.rows('moving')
    const found: Record<string, unknown> = {}
    for await (const line of createInterface(child.stdout)) {
      const [what, value] = JSON.parse(line)
      found[what] = value
      if (what !== 'before') continue
      await tables.move()
      child.stdin.end('written\n')
    }
    await ended
    for (const name of ['every type', 'many', 'before', 'pinned', 'after']) {
      found[name] &&= tables.sameText(found[name] as (string | null)[][])
    }
    const [everyType, many] = [await tables.rows('every type'), await tables.rows('many')]
    // Shown in full, a difference of so many rows would hide everything else.
    const same = { every: found['many'] !== undefined && isDeepStrictEqual(found['many'], many) }
    delete found['many']
    expect(found, complaints).toEqual({
      namespaces: [['tables'], ['times']],
      tables: ['bytes', 'every type', 'many', 'moving'],
      bytes: [['00FF'], [null], ['']],
      columns: [
        ['n', 'bigint'],
        ['flag', 'boolean'],
        ['d', 'double'],
        ['price', 'decimal(20,3)'],
        ['word', 'string'],
        ['day', 'date'],
        ['moment', 'timestamp_ntz'],
        ['instant', 'timestamp'],
        ['id', 'string'],
        ['j', 'string'],
      ],
      'count every type': [[everyType.length]],
      'every type': everyType,
      'count many': [[many.length]],
      files: [1, PARTS],
      before,
      pinned: before,
      after: await tables.rows('moving'),
      private: expect.stringContaining('There is no repository "secret" that this key may read'),
      dropped: expect.stringContaining('Server does not support endpoint: DELETE'),
      written: expect.stringContaining('Server does not support endpoint: POST'),
      clock: expect.stringContaining('Spark does not support time fields'),
    })
    expect(found['after']).not.toEqual(before)
    expect(same).toEqual({ every: true })
  },
)
