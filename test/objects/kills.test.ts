import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { type Dataset, type Engine, EngineError, openEngine } from '../../engine/index.ts'
import { parseS3Address } from '../../engine/store/objects/address.ts'
import { S3Store } from '../../engine/store/objects/s3.ts'
import { FaultyLine } from '../cluster/faulty-line.ts'
import { S3_SERVERS, S3Server } from '../cluster/s3-server.ts'

const KILLS = Number(process.env['PARQUETRY_CRASHES'] ?? 6)
const WRITERS = 3
/** The store dies when so many requests have come since the last time: each time another one, wherever that may be. */
const REQUESTS_BETWEEN = [5, 8, 13, 7, 11, 6, 17]

it.runIf(S3_SERVERS.length > 0)(
  `what was acknowledged is there, and nothing else, though the store is killed ${KILLS} times`,
  { timeout: 60_000 + KILLS * 5_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parquetry-kills-'))
    const server = await S3Server.start()
    const line = await FaultyLine.before(server.port)
    const store = { address: 's3://tests/kills', endpoint: line.endpoint, cacheBytes: 1_000_000 }
    const open = () =>
      openEngine({
        directory: join(folder, 'data'),
        role: 'server',
        threads: 2,
        keep: { versions: 1 },
        store,
      })
    try {
      const engine = await open()
      const repository = await engine.createRepository({ name: 'r' })
      const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'd' })
      const dataset = await engine.dataset(id)
      let killed = 0
      let seen = 0
      let dead: Promise<void> | undefined
      let reviving: Promise<void> | undefined
      const revive = async () => {
        await dead
        await server.start()
        seen = 0
        dead = undefined
        reviving = undefined
      }
      line.fault = () => {
        seen += 1
        if (dead || killed === KILLS || seen < REQUESTS_BETWEEN[killed % REQUESTS_BETWEEN.length]!)
          return undefined
        killed += 1
        seen = 0
        dead = server.kill()
        return undefined
      }
      const acknowledged: number[] = []
      let refused = 0
      let next = 0
      const writer = async () => {
        while (killed < KILLS) {
          const n = next++
          try {
            await dataset.append({ body: Readable.from([Buffer.from(`n\n${n}\n`)]), format: 'csv' })
            acknowledged.push(n)
          } catch (error) {
            expect(error).toBeInstanceOf(EngineError)
            expect((error as EngineError).code).toBe('storage_unavailable')
            refused += 1
            // Whoever is refused first has the store started again.
            if (dead) await (reviving ??= revive())
          }
        }
      }
      await Promise.all(Array.from({ length: WRITERS }, writer))
      if (dead) await (reviving ?? revive())
      line.fault = () => undefined
      expect(killed).toBe(KILLS)
      expect(refused).toBeGreaterThan(0)
      expect(await numbers(dataset)).toEqual(acknowledged.toSorted((a, b) => a - b))
      await engine.close()
      rmSync(join(folder, 'data', 'cache'), { recursive: true })
      await using again = await open()
      await again.settled()
      expect(await numbers(await again.dataset(id))).toEqual(acknowledged.toSorted((a, b) => a - b))
      expect(await again.verify()).toMatchObject({ problems: [] })
      expect(await stored(server)).toEqual(await named(again, id))
    } finally {
      await line[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

async function numbers(dataset: Dataset): Promise<number[]> {
  using query = await dataset.query()
  const rows = await Array.fromAsync(query.rows())
  return rows.map(({ n }) => Number(n)).sort((a, b) => a - b)
}

/** Numbers of the parts in the store. */
async function stored(server: S3Server): Promise<number[]> {
  const objects = new S3Store(parseS3Address('s3://tests/kills', { endpoint: server.endpoint }))
  const keys = await Array.fromAsync(objects.list('parts/'))
  objects.close()
  return keys.map(({ key }) => Number(/\d+/.exec(key)![0])).sort((a, b) => a - b)
}

/** Numbers of the parts that the dataset consists of. */
async function named(engine: Engine, id: number): Promise<number[]> {
  using snapshot = await (await engine.dataset(id)).snapshot()
  return (await snapshot.files()).map(({ number }) => number).sort((a, b) => a - b)
}
