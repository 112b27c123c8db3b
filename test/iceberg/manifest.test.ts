import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Dataset, type Engine, openEngine, type Snapshot } from '../../engine/index.ts'
import { type AvroSchema, type ListLine, type ManifestLine, readAvro } from './avro.ts'

let directory: string
let engine: Engine
let dataset: Dataset
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'parquetry-iceberg-'))
  engine = await openEngine({ directory, role: 'server', workers: 1, threads: 2, keep: { versions: 1 } })
  const repository = await engine.createRepository({ name: 'tables' })
  const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'table' })
  dataset = await engine.dataset(id)
  await dataset.replace(csv('n,Unit price,word\n3,1.5,c\n1,,a\n2,0.5,\n'))
  await dataset.append(csv('n,Unit price,word\n30,15,x\n10,2.25,z\n'))
})
afterEach(async () => {
  await engine.close()
  rmSync(directory, { recursive: true, force: true })
})

const csv = (text: string) =>
  ({
    body: (async function* () {
      yield Buffer.from(text)
    })(),
    format: 'csv',
  }) as const

const manifests = () => readdirSync(join(directory, 'iceberg')).sort()

/** The only line of a table's manifest list, and the lines of its manifest. */
async function readTable(snapshot: Snapshot, naming: 'named' | 'plain' = 'named') {
  const table = await snapshot.icebergTable(naming)
  const list = await readAvro<ListLine>(table.snapshots[0]!['manifest-list'])
  const manifest = await readAvro<ManifestLine>(list.records[0]!.manifest_path)
  return { table, list, manifest }
}

test('a version is a table with one snapshot, whose columns have the ids of the parts', async () => {
  using snapshot = await dataset.snapshot()
  const { table } = await readTable(snapshot)
  expect(table.schemas).toEqual([
    {
      type: 'struct',
      'schema-id': 0,
      fields: [
        { id: 1, name: 'n', required: false, type: 'long' },
        { id: 2, name: 'Unit price', required: false, type: 'double' },
        { id: 3, name: 'word', required: false, type: 'string' },
      ],
    },
  ])
  expect(JSON.parse(table.properties['schema.name-mapping.default'])[1]).toEqual({
    'field-id': 2,
    names: ['c1'],
  })
  expect(table['current-snapshot-id']).toBe(table.snapshots[0]!['snapshot-id'])
  expect(table.snapshots[0]!.summary).toMatchObject({ 'total-records': '5', 'total-data-files': '2' })
  const plain = await snapshot.icebergTable('plain')
  expect(plain.schemas[0]!.fields.map(({ name }) => name)).toEqual(['c0', 'c1', 'c2', 'r', 'f'])
  expect(plain.snapshots[0]).toMatchObject({ 'snapshot-id': table['current-snapshot-id'] })
})

test('a plain table tells the order of its rows: their numbers in the parts, and the rows before each part', async () => {
  using snapshot = await dataset.snapshot()
  const { manifest, table } = await readTable(snapshot, 'plain')
  expect(manifest.records.map(({ data_file }) => data_file.partition)).toEqual([{ f: 0 }, { f: 3 }])
  const { fields } = table['partition-specs'][0]!
  expect(fields).toEqual([{ name: 'f', transform: 'identity', 'source-id': 2_000_000_001, 'field-id': 1000 }])
  expect(JSON.parse(manifest.header['partition-spec']!)).toEqual(fields)
  const named = await readTable(snapshot)
  expect(named.table['partition-specs']).toEqual([{ 'spec-id': 0, fields: [] }])
  expect(named.manifest.records.map(({ data_file }) => data_file.partition)).toEqual([{}, {}])
})

test('the manifest lists the parts with what their values lie between', async () => {
  using snapshot = await dataset.snapshot()
  const { list, manifest } = await readTable(snapshot)
  expect(list.records).toMatchObject([
    { content: 0, added_files_count: 2, added_rows_count: 5, deleted_files_count: 0, partitions: null },
  ])
  const { manifest_path, manifest_length } = list.records[0]!
  expect(manifest_length).toBe(statSync(manifest_path.replace('file://', '')).size)
  const long = (value: number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(value))
    return bytes
  }
  const [first, second] = manifest.records.map(({ data_file }) => data_file)
  for (const { data_file } of manifest.records) {
    const file = data_file.file_path.replace('file://', '')
    expect(data_file).toMatchObject({
      content: 0,
      file_format: 'PARQUET',
      file_size_in_bytes: statSync(file).size,
    })
  }
  expect(first).toMatchObject({
    record_count: 3,
    null_value_counts: [
      { key: 1, value: 0 },
      { key: 2, value: 1 },
      { key: 3, value: 1 },
    ],
  })
  expect(second).toMatchObject({ record_count: 2 })
  expect(first!.lower_bounds[0]).toEqual({ key: 1, value: long(1) })
  expect(first!.upper_bounds[0]).toEqual({ key: 1, value: long(3) })
  expect(second!.lower_bounds[0]).toEqual({ key: 1, value: long(10) })
  expect(second!.upper_bounds[2]).toEqual({ key: 3, value: Buffer.from('z') })
})

test('every field of the Avro files has its id, and maps by field are marked as such', async () => {
  using snapshot = await dataset.snapshot()
  const { list, manifest } = await readTable(snapshot)
  const ids = (schema: AvroSchema): unknown[] => {
    if (typeof schema === 'string') return []
    if ('type' in schema && schema.type === 'record') {
      return schema.fields.flatMap((field) => [field['field-id'], ...ids(field.type)])
    }
    if ('type' in schema) {
      return [...(schema.logicalType === 'map' ? [] : [schema['element-id']]), ...ids(schema.items)]
    }
    return schema.flatMap(ids)
  }
  for (const { schema } of [list, manifest]) {
    const found = ids(schema)
    expect(found.every(Number.isInteger)).toBe(true)
    expect(new Set(found).size).toBe(found.length)
  }
  expect(manifest.header).toMatchObject({ 'format-version': '2', content: 'data', 'partition-spec': '[]' })
  const map = { type: 'array', logicalType: 'map', items: { name: 'k126_v127' } }
  expect(manifest.schema).toMatchObject({
    fields: expect.arrayContaining([
      expect.objectContaining({
        name: 'data_file',
        type: expect.objectContaining({
          fields: expect.arrayContaining([
            {
              name: 'lower_bounds',
              default: null,
              'field-id': 125,
              type: ['null', expect.objectContaining({ ...map, items: expect.objectContaining(map.items) })],
            },
          ]),
        }),
      }),
    ]),
  })
})

test('manifests are written once for a version, and anew where they are gone after a start', async () => {
  {
    using snapshot = await dataset.snapshot()
    expect(manifests()).toEqual([])
    await Promise.all([snapshot.icebergTable('named'), snapshot.icebergTable('plain')])
    await snapshot.icebergTable('named')
  }
  const written = manifests()
  expect(written).toHaveLength(4)
  await engine.close()
  rmSync(join(directory, 'iceberg', written[0]!))
  engine = await openEngine({ directory, role: 'server', workers: 1, threads: 2, keep: { versions: 1 } })
  dataset = await engine.dataset(dataset.id)
  using snapshot = await dataset.snapshot()
  await snapshot.icebergTable('named')
  await snapshot.icebergTable('plain')
  // The same version gives the same bytes, and so the same names.
  expect(manifests()).toEqual(written)
})

test('manifests go with their version, and stay while it is held', async () => {
  const held = await dataset.snapshot()
  const { manifest, list } = await readTable(held)
  const before = manifests()
  await dataset.replace(csv('n,Unit price,word\n7,,\n'))
  await engine.settled()
  expect(manifests()).toEqual(before)
  expect(manifest.records.every(({ data_file }) => existsSync(data_file.file_path.slice(7)))).toBe(true)
  held[Symbol.dispose]()
  await engine.settled()
  expect(manifests()).toEqual([])
  expect(existsSync(list.records[0]!.manifest_path.slice(7))).toBe(false)
})

test('gc removes manifests of versions that are gone, and what is none', async () => {
  writeFileSync(join(directory, 'iceberg', '999-list-0123456789abcdef.avro'), '')
  writeFileSync(join(directory, 'iceberg', 'left'), '')
  await engine.gc()
  expect(manifests()).toEqual([])
})

test('a dataset without rows is a table without files', async () => {
  const { id } = await engine.createDataset({
    repositoryId: 1,
    name: 'empty',
    columns: [{ name: 'n', type: 'integer', nullable: false }],
  })
  using snapshot = await (await engine.dataset(id)).snapshot()
  const { table, manifest } = await readTable(snapshot)
  expect(table.schemas[0]!.fields).toEqual([{ id: 1, name: 'n', required: true, type: 'long' }])
  expect(manifest.records).toEqual([])
})
