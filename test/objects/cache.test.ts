import { createHash, randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Cacheable, ObjectCache, WrongBytes } from '../../engine/store/objects/cache.ts'

const MIB = 2 ** 20
const NO_LIMIT = Number.MAX_SAFE_INTEGER

let root: string
let folder: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'parquetry-cache-'))
  folder = join(root, 'cache')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

/** Objects in memory, and what was asked of them. */
class Objects {
  readonly data = new Map<string, Buffer>()
  readonly asked: { name: string; from: number; to: number }[] = []
  /** Awaited before each answer. */
  before: (name: string, signal: AbortSignal) => Promise<unknown> = async () => {}

  add(name: string, bytes: number): Cacheable {
    const data = randomBytes(bytes)
    this.data.set(name, data)
    const hash = `blake2b512:${createHash('blake2b512').update(data).digest('base64url')}`
    return { name, bytes, hash }
  }

  readonly get = async (
    { name }: Cacheable,
    from: number,
    to: number,
    signal: AbortSignal,
  ): Promise<Uint8Array> => {
    this.asked.push({ name, from, to })
    await this.before(name, signal)
    signal.throwIfAborted()
    return Buffer.from(this.data.get(name)!.subarray(from, to))
  }

  holds(cache: ObjectCache, { name }: Cacheable): boolean {
    return Buffer.compare(readFileSync(cache.file(name)), this.data.get(name)!) === 0
  }
}

describe('the cache', () => {
  it('makes room on a disk that others have filled by what nobody reads, and fetches the object again', async () => {
    const objects = new Objects()
    const [old, read, wanted] = ['old', 'read', 'wanted'].map((name) => objects.add(name, MIB))
    const cache = new ObjectCache(folder, NO_LIMIT, objects.get)
    using _ = await cache.pin([read!])
    {
      using _ = await cache.pin([old!])
    }
    objects.before = async () => {
      if (cache.has(old!)) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
    }
    using held = await cache.pin([wanted!])
    expect([held, objects.holds(cache, wanted!)]).toEqual([expect.anything(), true])
    expect(readdirSync(folder).sort()).toEqual(['read', 'wanted'])
    expect(cache.stats.bytes).toBe(2 * MIB)
  })

  it('counts a file that grows by what it has now', () => {
    const cache = new ObjectCache(folder, NO_LIMIT, new Objects().get)
    for (const bytes of [10, 30, 20]) {
      cache.grow('growing', bytes)
      expect(cache.stats.bytes).toBe(bytes)
    }
  })

  it('fetches an object by ranges and checks it, and the next time has it', async () => {
    const objects = new Objects()
    const large = objects.add('large', 20 * MIB + 7)
    const cache = new ObjectCache(folder, NO_LIMIT, objects.get)
    {
      using _ = await cache.pin([large])
      expect(objects.holds(cache, large)).toBe(true)
      expect(objects.asked).toHaveLength(3)
    }
    using _ = await cache.pin([large])
    expect(objects.asked).toHaveLength(3)
    expect(cache.stats).toEqual({
      hits: 1,
      misses: 1,
      fetchedBytes: large.bytes,
      bytes: large.bytes,
      maxBytes: NO_LIMIT,
    })
    expect(readdirSync(folder)).toEqual(['large'])
  })

  it('fetches a file again whose bytes have changed, also one that an earlier process has left', async () => {
    const objects = new Objects()
    const one = objects.add('one', 1_000)
    const read = async (cache: ObjectCache) => {
      using _ = await cache.pin([one])
      expect(objects.holds(cache, one)).toBe(true)
    }
    const harm = () => {
      const bytes = readFileSync(join(folder, 'one'))
      bytes[500]! ^= 1
      writeFileSync(join(folder, 'one'), bytes)
    }
    const first = new ObjectCache(folder, NO_LIMIT, objects.get)
    await read(first)
    harm()
    await read(first)
    expect(objects.asked).toHaveLength(2)
    await read(new ObjectCache(folder, NO_LIMIT, objects.get))
    expect(objects.asked).toHaveLength(2)
    harm()
    await read(new ObjectCache(folder, NO_LIMIT, objects.get))
    expect(objects.asked).toHaveLength(3)
  })

  it('fetches once for all who ask at the same time', async () => {
    const objects = new Objects()
    const one = objects.add('one', 1_000)
    const cache = new ObjectCache(folder, NO_LIMIT, objects.get)
    await Promise.all(Array.from({ length: 50 }, () => cache.pin([one])))
    expect(objects.asked).toHaveLength(1)
  })

  it('asks a second time for bytes that are wrong, and gives them to nobody', async () => {
    const objects = new Objects()
    const once = objects.add('once', 1_000)
    const always = objects.add('always', 1_000)
    const right = Buffer.from(objects.data.get('once')!)
    objects.data.get('once')![500]! ^= 1
    objects.data.get('always')![999]! ^= 128
    objects.before = async (name) => {
      if (name === 'once' && objects.asked.filter((one) => one.name === name).length === 2) {
        objects.data.set('once', right)
      }
    }
    const cache = new ObjectCache(folder, NO_LIMIT, objects.get)
    using _ = await cache.pin([once])
    expect(Buffer.compare(readFileSync(cache.file('once')), right)).toBe(0)
    await expect(cache.pin([once, always])).rejects.toThrow(WrongBytes)
    expect(readdirSync(folder)).toEqual(['once'])
    expect(cache.stats.bytes).toBe(1_000)
  })

  it('leaves nothing where a fetch fails, and tries again the next time', async () => {
    const objects = new Objects()
    const one = objects.add('one', 20 * MIB)
    let failing = true
    objects.before = async () => {
      if (failing && objects.asked.length === 3) throw new Error('the store is down')
    }
    const cache = new ObjectCache(folder, NO_LIMIT, objects.get)
    await expect(cache.pin([one])).rejects.toThrow('the store is down')
    expect(readdirSync(folder)).toEqual([])
    failing = false
    using _ = await cache.pin([one])
    expect(objects.holds(cache, one)).toBe(true)
  })

  it('gives a fetch up when nobody waits for it any more, and not before', async () => {
    const objects = new Objects()
    const one = objects.add('one', 1_000)
    const answer = Promise.withResolvers<void>()
    let given: AbortSignal | undefined
    objects.before = (_, signal) => {
      given = signal
      return answer.promise
    }
    const cache = new ObjectCache(folder, NO_LIMIT, objects.get)
    const [first, second] = [new AbortController(), new AbortController()]
    const asked = [cache.pin([one], first.signal), cache.pin([one], second.signal)]
    await vi.waitFor(() => expect(given).toBeDefined())
    first.abort(new Error('left'))
    await expect(asked[0]).rejects.toThrow('left')
    expect(given?.aborted).toBe(false)
    second.abort(new Error('left, too'))
    await expect(asked[1]).rejects.toThrow('left, too')
    expect(given?.aborted).toBe(true)
    answer.resolve()
    using _ = await cache.pin([one])
    expect(objects.holds(cache, one)).toBe(true)
  })

  it('drops what was used longest ago, and never what is in use', async () => {
    const objects = new Objects()
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => objects.add(name, 1_000)) as [
      Cacheable,
      Cacheable,
      Cacheable,
      Cacheable,
    ]
    const cache = new ObjectCache(folder, 2_500, objects.get)
    const there = () => readdirSync(folder).sort()
    ;(await cache.pin([a]))[Symbol.dispose]()
    ;(await cache.pin([b]))[Symbol.dispose]()
    ;(await cache.pin([a]))[Symbol.dispose]()
    ;(await cache.pin([c]))[Symbol.dispose]()
    expect(there()).toEqual(['a', 'c'])
    {
      using _ = await cache.pin([a, b, c, d])
      expect(there()).toEqual(['a', 'b', 'c', 'd'])
    }
    expect(there()).toEqual(['c', 'd'])
    expect(cache.stats.bytes).toBe(2_000)
  })

  it('knows what an earlier process has left, but no half files', async () => {
    const objects = new Objects()
    const [old, recent, half] = [
      objects.add('old', 1_000),
      objects.add('recent', 1_000),
      objects.add('half', 1_000),
    ]
    {
      const cache = new ObjectCache(folder, NO_LIMIT, objects.get)
      using _ = await cache.pin([old, recent, half])
      utimesSync(cache.file('old'), 1, 1)
      truncateSync(cache.file('half'), 10)
      writeFileSync(join(folder, 'other.new'), 'half of it')
    }
    objects.asked.length = 0
    const cache = new ObjectCache(folder, 2_500, objects.get)
    expect(readdirSync(folder).sort()).toEqual(['half', 'old', 'recent'])
    using _ = await cache.pin([half, recent])
    expect(objects.asked.map(({ name }) => name)).toEqual(['half'])
    expect(objects.holds(cache, half)).toBe(true)
    expect(existsSync(cache.file('old'))).toBe(false)
  })

  it('fetches again what was lost with the disk', async () => {
    const objects = new Objects()
    const one = objects.add('one', 1_000)
    const cache = new ObjectCache(folder, NO_LIMIT, objects.get)
    ;(await cache.pin([one]))[Symbol.dispose]()
    rmSync(folder, { recursive: true })
    using _ = await cache.pin([one])
    expect(objects.holds(cache, one)).toBe(true)
    expect(cache.stats).toMatchObject({ misses: 2, bytes: 1_000 })
    await cache.adopt(objects.add('two', 10), fileOf(objects.data.get('two')!))
    expect(cache.stats.bytes).toBe(1_010)
  })

  it('takes over a file that was written here', async () => {
    const objects = new Objects()
    const one = objects.add('one', 1_000)
    const cache = new ObjectCache(folder, NO_LIMIT, objects.get)
    await cache.adopt(one, fileOf(objects.data.get('one')!))
    using _ = await cache.pin([one])
    expect(objects.asked).toEqual([])
    cache.drop('one')
    expect(readdirSync(folder)).toEqual([])
    expect(cache.stats.bytes).toBe(0)
  })

  it('keeps its promises whatever comes in whatever order', async () => {
    const step = fc.oneof(
      fc.record({ pin: fc.uniqueArray(fc.nat(5), { minLength: 1 }) }),
      fc.record({ release: fc.nat(9) }),
      fc.record({ lose: fc.nat(5) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        rmSync(folder, { recursive: true, force: true })
        const objects = new Objects()
        const all = [100, 200, 300, 400, 500, 600].map((bytes, index) => objects.add(`o${index}`, bytes))
        const cache = new ObjectCache(folder, 900, objects.get)
        const held: { wanted: Cacheable[]; pin: Disposable }[] = []
        for (const one of steps) {
          if ('pin' in one) {
            const wanted = one.pin.map((index) => all[index]!)
            held.push({ wanted, pin: await cache.pin(wanted) })
          } else if ('release' in one) held.splice(one.release, 1)[0]?.pin[Symbol.dispose]()
          else if (!held.some(({ wanted }) => wanted.includes(all[one.lose]!)))
            rmSync(cache.file(`o${one.lose}`), { force: true })
          for (const { wanted } of held)
            for (const object of wanted) expect(objects.holds(cache, object)).toBe(true)
        }
        for (const { pin } of held) pin[Symbol.dispose]()
        expect(cache.stats.bytes).toBeLessThanOrEqual(900)
      }),
      { numRuns: 60 },
    )
  })

  function fileOf(data: Buffer): string {
    const file = join(root, 'written')
    writeFileSync(file, data)
    return file
  }
})
