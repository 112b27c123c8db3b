import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PartBytes } from '../../engine/catalog/records.ts'
import { parseS3Address } from '../../engine/store/objects/address.ts'
import { FolderParts } from '../../engine/store/objects/folder.ts'
import { DamagedPart, type PartStore } from '../../engine/store/objects/part-store.ts'
import { RemoteParts } from '../../engine/store/objects/remote.ts'
import { S3Store } from '../../engine/store/objects/s3.ts'
import { S3_SERVERS, S3Server } from '../cluster/s3-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-parts-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function partOf(id: number, data: Buffer): PartBytes {
  const hash = `blake2b512:${createHash('blake2b512').update(data).digest('base64url')}`
  return { id, bytes: data.length, hash }
}

async function written(parts: PartStore, id: number, bytes = 3_000_000) {
  const data = randomBytes(bytes)
  writeFileSync(parts.target(id), data)
  const part = partOf(id, data)
  await parts.keep(part)
  return { part, data }
}

async function bytesOf(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** What each store of parts must do, whatever it is made of. */
function behaves(open: (name: string) => PartStore): void {
  it('gives the bytes of a part that was kept: as a file, and by ranges', async () => {
    const parts = open('bytes')
    const { part, data } = await written(parts, 1)
    {
      using _ = await parts.pin([part])
      expect(Buffer.compare(readFileSync(parts.file(part)), data)).toBe(0)
    }
    expect(Buffer.compare(await bytesOf(parts.read(part, 0, part.bytes)), data)).toBe(0)
    expect(
      Buffer.compare(await bytesOf(parts.read(part, 1_000, 2_900_000)), data.subarray(1_000, 2_900_000)),
    ).toBe(0)
    expect(await bytesOf(parts.read(part, 7, 7))).toEqual(Buffer.alloc(0))
    expect(await parts.size(part)).toBe(part.bytes)
    parts.close()
  })

  it('lists what is there, and forgets what is removed', async () => {
    const parts = open('list')
    const [one, two] = [await written(parts, 1), await written(parts, 22, 10)]
    const listed = async () => {
      const found: [number | undefined, number][] = []
      for await (const { id, bytes } of parts.list()) found.push([id, bytes])
      return found.sort()
    }
    expect(await listed()).toEqual([
      [1, 3_000_000],
      [22, 10],
    ])
    await parts.remove(one.part)
    expect(await listed()).toEqual([[22, 10]])
    expect(await parts.size(one.part)).toBeUndefined()
    expect(await parts.size(two.part)).toBe(10)
    await parts.remove(one.part)
    await parts.remove({ id: 99, hash: null })
    parts.close()
  })
}

describe('parts in a folder', () => {
  behaves((name) => {
    const place = join(folder, name)
    mkdirSync(place)
    return new FolderParts(place)
  })

  it('are read where they were written, with nothing to wait for', async () => {
    const place = join(folder, 'in-place')
    mkdirSync(place)
    const parts = new FolderParts(place)
    expect(parts.file({ id: 7, bytes: 1, hash: null })).toBe(parts.target(7))
    expect(parts.pin([])).toBeUndefined()
  })
})

describe.runIf(S3_SERVERS.length > 0)('parts in a store of objects', () => {
  let server: S3Server
  beforeAll(async () => {
    server = await S3Server.start()
  })
  afterAll(() => server?.[Symbol.asyncDispose]())

  const open = (name: string, node = 'node') => {
    const place = join(folder, name, node)
    return new RemoteParts(new S3Store(parseS3Address(`s3://tests/${name}`, { endpoint: server.endpoint })), {
      writing: join(place, 'writing'),
      cache: { folder: join(place, 'cache'), maxBytes: 100_000_000 },
    })
  }

  behaves((name) => open(name))

  it('are in the cache of who wrote them, and fetched by others', async () => {
    const [one, other] = [open('nodes', 'one'), open('nodes', 'other')]
    const { part, data } = await written(one, 1)
    using _one = await one.pin([part])
    expect(one.cache).toMatchObject({ hits: 1, misses: 0 })
    using _other = await other.pin([part])
    expect(other.cache).toMatchObject({ hits: 0, misses: 1, fetchedBytes: part.bytes })
    expect(Buffer.compare(readFileSync(other.file(part)), data)).toBe(0)
    one.close()
    other.close()
  })

  it('are other objects where a number is given a second time', async () => {
    const parts = open('restored')
    const first = await written(parts, 5)
    const second = await written(parts, 5)
    using _ = await parts.pin([first.part, second.part])
    expect(Buffer.compare(readFileSync(parts.file(first.part)), first.data)).toBe(0)
    expect(Buffer.compare(readFileSync(parts.file(second.part)), second.data)).toBe(0)
    parts.close()
  })

  it('say which part is damaged or missing', async () => {
    const parts = open('damaged')
    const data = randomBytes(100)
    const missing = partOf(1, data)
    await expect(parts.pin([missing])).rejects.toEqual(
      expect.objectContaining({ name: 'DamagedPart', part: 1, problem: expect.stringContaining('missing') }),
    )
    await expect(bytesOf(parts.read(missing, 0, 100))).rejects.toThrow(DamagedPart)
    const other = open('damaged', 'other')
    const { part } = await written(other, 2)
    const wrong = { ...part, hash: `${part.hash!.slice(0, 40)}${partOf(2, data).hash!.slice(40)}` }
    await expect(parts.pin([wrong])).rejects.toEqual(
      expect.objectContaining({
        name: 'DamagedPart',
        part: 2,
        problem: expect.stringContaining('not those'),
      }),
    )
    parts.close()
    other.close()
  })

  it('that could not be stored are not kept', async () => {
    const parts = open('unstored')
    writeFileSync(parts.target(1), 'abc')
    await server.kill()
    await expect(parts.keep(partOf(1, Buffer.from('abc')))).rejects.toEqual(
      expect.objectContaining({ code: 'storage_unavailable' }),
    )
    await server.start()
    await parts.keep(partOf(1, Buffer.from('abc')))
    expect(await parts.size(partOf(1, Buffer.from('abc')))).toBe(3)
    parts.close()
  })
})
