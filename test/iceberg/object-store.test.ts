import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEngine, type Snapshot } from '../../engine/index.ts'
import { parseS3Address } from '../../engine/store/objects/address.ts'
import { S3Store } from '../../engine/store/objects/s3.ts'
import { S3_SERVERS, S3Server } from '../cluster/s3-server.ts'
import { type ListLine, type ManifestLine, readAvroBytes } from './avro.ts'

const csv = (text: string) =>
  ({
    body: (async function* () {
      yield Buffer.from(text)
    })(),
    format: 'csv',
  }) as const

describe.runIf(S3_SERVERS.length > 0)('tables whose rows are in a store of objects', () => {
  let server: S3Server
  let objects: S3Store
  const directory = mkdtempSync(join(tmpdir(), 'parquetry-iceberg-'))
  beforeAll(async () => {
    server = await S3Server.start()
    objects = new S3Store(parseS3Address('s3://tests/rows', { endpoint: server.endpoint }))
  })
  afterAll(async () => {
    objects?.close()
    await server?.[Symbol.asyncDispose]()
    rmSync(directory, { recursive: true, force: true })
  })

  const open = () =>
    openEngine({
      directory,
      role: 'server',
      store: { address: 's3://tests/rows', endpoint: server.endpoint, cacheBytes: 50_000_000 },
      threads: 2,
      workers: 1,
      keep: { versions: 1 },
    })
  const read = async (url: string) => {
    const key = url.replace('s3://tests/rows/', '')
    return Buffer.from(await objects.get(key, 0, (await objects.size(key))!))
  }
  const manifests = async () => {
    const keys: string[] = []
    for await (const { key } of objects.list('iceberg/')) keys.push(key)
    return keys.toSorted()
  }

  /** The addresses of the table's parts. */
  async function partsOf(snapshot: Snapshot): Promise<string[]> {
    const table = await snapshot.icebergTable('plain')
    expect(table.location).toMatch(/^s3:\/\/tests\/rows\/iceberg\//)
    const list = await readAvroBytes<ListLine>(await read(table.snapshots[0]!['manifest-list']))
    const manifest = await readAvroBytes<ManifestLine>(await read(list.records[0]!.manifest_path))
    return manifest.records.map(({ data_file }) => data_file.file_path)
  }

  test('have manifests there, which go with their version, and those of others when the store is swept', async () => {
    let engine = await open()
    const repository = await engine.createRepository({ name: 'tables' })
    const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'table' })
    let dataset = await engine.dataset(id)
    await dataset.replace(csv('n\n1\n2\n'))
    {
      using snapshot = await dataset.snapshot()
      const [part] = await partsOf(snapshot)
      expect(part).toMatch(/^s3:\/\/tests\/rows\/parts\/\d+-.*\.parquet$/)
      expect((await read(part!)).subarray(0, 4).toString()).toBe('PAR1')
    }
    expect(await manifests()).toHaveLength(2)
    await dataset.replace(csv('n\n3\n'))
    await engine.settled()
    expect(await manifests()).toEqual([])

    // A process that has ended leaves its own, and an object that nobody knows lies among them.
    {
      using snapshot = await dataset.snapshot()
      await partsOf(snapshot)
    }
    await engine.close()
    await objects.put('iceberg/other', { data: Buffer.from('x') })
    engine = await open()
    dataset = await engine.dataset(id)
    await dataset.replace(csv('n\n4\n'))
    await engine.settled()
    await engine.gc()
    expect(await manifests()).toEqual([])
    await engine.close()
  })
})
