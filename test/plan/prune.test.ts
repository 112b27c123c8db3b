import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Engine, openEngine } from '../../engine/index.ts'

const PARTS = 6
const ROWS = 50
const directory = mkdtempSync(join(tmpdir(), 'parquetry-prune-'))
let engine: Engine

/** Values of one part of each kind; the parts follow each other, but for some that are hostile to ordering. */
function row(part: number, n: number): Record<string, unknown> {
  const at = part * ROWS + n
  const moment = new Date(Date.UTC(2020 + part, 0, 1, 0, 0, n)).toISOString().slice(0, 19)
  const letter = String.fromCodePoint([0x61, 0x7a, 0xe9, 0x4e2d, 0xffee, 0x1f600][part]!)
  return {
    i: part === 3 && n === 0 ? '9007199254740993' : at,
    d: `${at - 100}.${String(n).padStart(2, '0')}`,
    x: part === 1 ? 'NaN' : part === 2 && n % 2 ? 'NaN' : part === 4 && n === 0 ? '-INF' : at / 7,
    s: part === 5 && n === 0 ? `${letter}${'y'.repeat(200)}` : `${letter}${n}`,
    day: moment.slice(0, 10),
    t: moment.slice(11),
    ts: moment,
    tz: `${moment}Z`,
    b: part % 2 === 0,
    u: `${part}0000000-0000-4000-8000-0000000000${String(n).padStart(2, '0')}`,
    j: `{"n":${at}}`,
    nothing: part === 2 ? n : null,
    sometimes: n % 3 === 0 ? null : at,
    missing: part === 2 && n > 5 ? `202${n % 10}-03-01` : null,
    single: part === 4 && n === 7 ? null : at,
  }
}

const COLUMNS = [
  { name: 'i', type: 'integer' },
  { name: 'd', type: 'decimal(12,2)' },
  { name: 'x', type: 'double' },
  { name: 's', type: 'string' },
  { name: 'day', type: 'date' },
  { name: 't', type: 'time' },
  { name: 'ts', type: 'timestamp' },
  { name: 'tz', type: 'timestamptz' },
  { name: 'b', type: 'boolean' },
  { name: 'u', type: 'uuid' },
  { name: 'j', type: 'json' },
  { name: 'nothing', type: 'integer' },
  { name: 'sometimes', type: 'integer' },
  { name: 'missing', type: 'date' },
  { name: 'single', type: 'integer' },
] as const

const MIXED = [
  { name: 'n', type: 'integer' },
  { name: 'k', type: 'integer' },
  { name: 'x', type: 'double' },
] as const

beforeAll(async () => {
  engine = await openEngine({ directory, role: 'server', threads: 1, workers: 1 })
  const { id: repositoryId } = await engine.createRepository({ name: 'r' })
  for (const name of ['parts', 'unknown']) {
    const { id } = await engine.createDataset({ repositoryId, name, columns: COLUMNS })
    for (let part = 0; part < PARTS; part++) {
      const lines = Array.from({ length: ROWS }, (_, n) => JSON.stringify(row(part, n))).join('\n')
      const body = (async function* () {
        yield Buffer.from(`${lines}\n`)
      })()
      await (await engine.dataset(id)).append({ format: 'ndjson', body })
    }
  }
  // The second dataset has the same parts and nothing known of them.
  await engine.database.run('UPDATE parts SET statistics = NULL WHERE id > ?', PARTS)
  await engine.settled()
  await engine.close()
  engine = await openEngine({
    directory,
    role: 'server',
    threads: 1,
    workers: 1,
    checks: { bytesPerSecond: 0 },
  })
})
afterAll(async () => {
  await engine.close()
  rmSync(directory, { recursive: true })
})

async function partsRead(filter: string, id = 1): Promise<number> {
  using query = await (await engine.dataset(id)).query({ filter })
  const { scan } = query.plan
  return scan.kind === 'slices' ? scan.slices.length : -1
}

async function counted(filter: string, id: number): Promise<number> {
  using query = await (await engine.dataset(id)).query({ filter })
  return await query.count()
}

describe('parts that can hold no row of the answer are not read', () => {
  test.for([
    ['i eq 120', 1],
    ['i lt 50', 1],
    ['i le 50', 2],
    ['i gt 100 and i lt 120', 1],
    ['i lt 10 or i ge 290', 3],
    ['i in (1, 2, 299)', 3],
    ['i eq 9007199254740993', 1],
    ['i gt 2.5e0 and i lt 3', 1],
    ['i gt 49.5e0 and i lt 50', 0],
    ['d eq -99.01', 1],
    ['d lt -60', 1],
    // Of the two parts with NaN nothing is known.
    ['x gt 41', 3],
    ['x eq INF', 2],
    ['x eq -INF', 3],
    ["s eq 'a3'", 1],
    ["startswith(s, 'z')", 1],
    ["startswith(s, 'q')", 0],
    ["s ge '\u{1f600}'", 1],
    ['day eq 2023-01-01', 1],
    ['year(ts) eq 2021', 1],
    ['year(day) lt 2022', 2],
    ['tz ge 2025-01-01T00:00:00Z', 1],
    ['ts eq 2020-01-01', 1],
    ['t gt 12:00:00', 0],
    ['b', 6],
    ['b eq false', 3],
    ['u eq 30000000-0000-4000-8000-000000000007', 1],
    ['nothing ne null', 1],
    ['nothing eq null', 5],
    ['nothing gt 3', 1],
    ['single eq null', 1],
    ['single in (null, 3)', 2],
    ['year(missing) eq null', 6],
    ['null eq date(missing)', 6],
    ['year(missing) eq 2024', 1],
    ['not (i lt 50)', 6],
    ['i add 1 eq 5', 6],
    ['i eq sometimes', 6],
  ] as const)('%s: %i', async ([filter, parts]) => {
    expect(await partsRead(filter)).toBe(parts)
    expect(await partsRead(filter, 2)).toBe(PARTS)
    expect(await counted(filter, 1)).toBe(await counted(filter, 2))
  })

  test('and explain says how many of how many', async () => {
    using query = await (await engine.dataset(1)).query({ filter: 'i eq 120' })
    expect(await query.explain()).toMatch(/^Parts read: 1 of 6\n/)
  })

  test('whatever is compared, the rows are the same as of all parts', async () => {
    const operator = fc.constantFrom('eq', 'ne', 'lt', 'le', 'gt', 'ge')
    const number = fc.oneof(
      fc.integer({ min: -120, max: 320 }).map(String),
      fc
        .tuple(fc.integer({ min: -120, max: 320 }), fc.constantFrom('.5', '.01', '.999', 'e0', '.25e1'))
        .map(([a, b]) => a + b),
      fc.constantFrom(
        'NaN',
        'INF',
        '-INF',
        '9007199254740992',
        '9007199254740993',
        '-9e99',
        'null',
        '99999999999999999999',
      ),
    )
    const text = fc
      .tuple(
        fc.constantFrom('a', 'z', 'é', '中', '\uffee', '\u{1f600}', 'y', ''),
        fc.constantFrom('', '1', '49', 'y', 'yyyyyy'),
      )
      .map(([a, b]) => `'${a}${b}'`)
    const year = fc.integer({ min: 2018, max: 2027 })
    const moment = fc
      .tuple(year, fc.integer({ min: 0, max: 59 }))
      .map(([y, n]) => `${y}-01-01T00:00:${String(n).padStart(2, '0')}`)
    const comparison = fc.oneof(
      fc
        .tuple(fc.constantFrom('i', 'd', 'x', 'nothing', 'sometimes'), operator, number)
        .map((all) => all.join(' ')),
      fc.tuple(fc.constantFrom('s', 'j'), operator, text).map((all) => all.join(' ')),
      text.map((start) => `startswith(s, ${start})`),
      fc.tuple(operator, moment).map(([o, m]) => `ts ${o} ${m}`),
      fc.tuple(operator, moment).map(([o, m]) => `tz ${o} ${m}Z`),
      fc.tuple(fc.constantFrom('day', 'ts'), operator, year).map(([c, o, y]) => `year(${c}) ${o} ${y}`),
      fc
        .array(fc.integer({ min: -5, max: 320 }), { minLength: 1, maxLength: 5 })
        .map((some) => `i in (${some.join(', ')})`),
      fc
        .tuple(operator, fc.integer({ min: 0, max: 6 }))
        .map(([o, p]) => `u ${o} ${p}0000000-0000-4000-8000-000000000007`),
      fc.tuple(operator, fc.boolean()).map(([o, value]) => `b ${o} ${value}`),
    )
    const filter = fc.oneof(
      comparison,
      fc.tuple(comparison, fc.constantFrom('and', 'or'), comparison).map(([a, o, b]) => `${a} ${o} ${b}`),
      comparison.map((one) => `not (${one})`),
    )
    let fewer = 0
    await fc.assert(
      fc.asyncProperty(filter, async (given) => {
        let read: number
        try {
          read = await partsRead(given)
        } catch {
          // Not a filter over these types.
          return
        }
        if (read < PARTS) fewer += 1
        expect(await counted(given, 1)).toBe(await counted(given, 2))
      }),
      { numRuns: 200 },
    )
    expect(fewer).toBeGreaterThan(50)
  })
})

describe('the first rows of an order are looked for only in the parts that may hold them', () => {
  const ordered = async (orderBy: string, top: number, skip = 0, id = 1) =>
    (await engine.dataset(id)).query({ orderBy, top, skip })

  test.for([
    // One value of the fourth part is greater than all others.
    ['i desc', 5, 0, 2],
    ['i', 5, 0, 1],
    ['i', 50, 0, 1],
    ['i', 51, 0, 2],
    ['i', 5, 48, 2],
    ['i', 1_000, 0, 6],
    ['d desc, s', 5, 0, 1],
    ['s desc', 5, 0, 1],
    ['day desc', 5, 0, 1],
    ['tz desc', 51, 0, 2],
    ['u', 5, 0, 1],
    ['b desc', 5, 0, 3],
    // Null comes first ascending and last descending.
    ['sometimes', 5, 0, 6],
    ['sometimes desc', 33, 0, 1],
    ['sometimes desc', 34, 0, 2],
    ['single', 1, 0, 2],
    ['single desc', 50, 0, 1],
    ['nothing desc', 50, 0, 1],
    ['nothing desc', 51, 0, 6],
    // Of the two parts with NaN nothing is known.
    ['x desc', 5, 0, 3],
    ['i add 1', 5, 0, 6],
  ] as const)('$orderby=%s&$top=%i&$skip=%i: %i', async ([orderBy, top, skip, parts]) => {
    using query = await ordered(orderBy, top, skip)
    expect(query.plan.scan).toMatchObject({ slices: { length: parts }, of: PARTS })
    using unknown = await ordered(orderBy, top, skip, 2)
    expect(unknown.plan.scan).toMatchObject({ slices: { length: PARTS } })
  })

  test('a part with a single null is read for it', async () => {
    using query = await ordered('single', 2)
    expect(await Array.fromAsync(query.rows(), ({ single, i }) => [single, i])).toEqual([
      [null, 4 * ROWS + 7],
      [0, 0],
    ])
  })

  test('a bound that some row has is enough for that row, and rows behind it are left out', async () => {
    const conditionOf = async (orderBy: string, top: number) => {
      using query = await ordered(orderBy, top)
      return query.plan.scan.kind === 'slices' ? query.plan.scan.condition : undefined
    }
    expect(await conditionOf('i desc', 2)).toBe("c0 >= CAST('299' AS BIGINT)")
    expect(await conditionOf('d', 1)).toBe("c1 <= CAST('-100.00' AS DECIMAL(12,2))")
    expect(await conditionOf('day desc, i', 3)).toBe("c4 >= CAST('2025-01-01' AS DATE)")
    // Comparing texts costs more than it saves, and nulls come first ascending.
    expect(await conditionOf('s', 1)).toBeUndefined()
    expect(await conditionOf('sometimes', 5)).toBeUndefined()
    expect(await conditionOf('i', 1_000)).toBeUndefined()
  })

  test('where the values of all parts are mixed, too, the rows are the same', async () => {
    const { id } = await engine.createDataset({ repositoryId: 1, name: 'mixed', columns: MIXED })
    const dataset = await engine.dataset(id)
    const rows: (readonly [n: number, k: number | null, x: number])[] = []
    for (let part = 0; part < 8; part++) {
      const own = Array.from({ length: 40 }, (_, n) => {
        const at = part * 40 + n
        return [at, at % 11 === part ? null : (at * 7_919) % 101, ((at * 31) % 57) - 28.5] as const
      })
      rows.push(...own)
      const body = (async function* () {
        yield Buffer.from(`n,k,x\n${own.map((one) => one.map((value) => value ?? '').join()).join('\n')}\n`)
      })()
      await dataset.append({ format: 'csv', body })
    }
    for (const [place, name] of [
      [1, 'k'],
      [2, 'x'],
    ] as const) {
      for (const descending of [false, true]) {
        const least = (row: (typeof rows)[number]) => row[place] ?? Number.NEGATIVE_INFINITY
        const sorted = rows.toSorted(
          (a, b) => (descending ? least(b) - least(a) : least(a) - least(b)) || a[0] - b[0],
        )
        for (const [top, skip] of [
          [1, 0],
          [2, 0],
          [7, 0],
          [8, 0],
          [3, 6],
          [60, 20],
        ] as const) {
          using query = await dataset.query({ orderBy: `${name}${descending ? ' desc' : ''}`, top, skip })
          const found = await Array.fromAsync(query.rows(), ({ n }) => Number(n))
          expect(found).toEqual(sorted.slice(skip, skip + top).map(([n]) => n))
        }
      }
    }
  })

  test('not where rows are filtered or changed before they are sorted, or none are left out', async () => {
    const options = [
      { filter: 's ne null', top: 5 },
      { apply: 'filter(i lt 30)', top: 5 },
      { compute: 'i add 1 as k', top: 5 },
      { last: 5 },
      {},
    ]
    for (const option of options) {
      using query = await (await engine.dataset(1)).query({ orderBy: 'i', ...option })
      expect(query.plan.scan).toMatchObject({ slices: { length: PARTS } })
    }
  })

  test('whatever they are sorted by, the rows are the same as of all parts', async () => {
    const key = fc
      .tuple(fc.constantFrom(...COLUMNS.map(({ name }) => name)), fc.constantFrom('asc', 'desc'))
      .map((both) => both.join(' '))
    const keys = fc.uniqueArray(key, {
      minLength: 1,
      maxLength: 3,
      selector: (text) => text.split(' ')[0]!,
    })
    const count = fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 320 }))
    let fewer = 0
    await fc.assert(
      fc.asyncProperty(keys, count, count, async (all, top, skip) => {
        using query = await ordered(all.join(), top, skip)
        using unknown = await ordered(all.join(), top, skip, 2)
        if (query.plan.scan.kind === 'slices' && query.plan.scan.slices.length < PARTS) fewer += 1
        expect(await Array.fromAsync(query.rows())).toEqual(await Array.fromAsync(unknown.rows()))
      }),
      { numRuns: 200 },
    )
    expect(fewer).toBeGreaterThan(50)
  })
})
