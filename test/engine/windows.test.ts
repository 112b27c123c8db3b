import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Dataset, QueryOptions } from '../../engine/index.ts'
import { bytesOf, newDataset, openWorkplace } from './workplace.ts'

interface Row {
  readonly n: number
  readonly kind: number
  readonly rare: number
}

/** Parts with a few vectors of 2,048 rows, with a few rows, and with several row groups. */
const SIZES = [5_000, 3, 140_000, 2_049, 9_000]
const rows: Row[] = Array.from({ length: SIZES.reduce((sum, size) => sum + size) }, (_, n) => ({
  n,
  kind: (n * 7_919) % 97,
  rare: Math.floor(n / 500) % 37 === 0 ? n % 5 : -1,
}))

let place: Awaited<ReturnType<typeof openWorkplace>>
let dataset: Dataset

beforeAll(async () => {
  place = await openWorkplace()
  dataset = await newDataset(place.engine)
  let first = 0
  for (const size of SIZES) {
    const lines = rows.slice(first, first + size).map(({ n, kind, rare }) => `${n},${kind},${rare}\n`)
    await dataset.append({ body: bytesOf(`n,kind,rare\n${lines.join('')}`), format: 'csv' })
    first += size
  }
})
afterAll(() => place[Symbol.asyncDispose]())

/** Begin of the part with several row groups. */
const LARGE = SIZES[0]! + SIZES[1]!
const VECTOR_ROWS = 2_048

const number = fc.nat(rows.length)
const filters = fc.oneof(
  // Rows around the border of two vectors, and others in another part.
  fc
    .record({ vector: fc.nat(60), before: fc.nat(80), after: fc.nat(400) })
    .map(({ vector, before, after }) => {
      const border = LARGE + vector * VECTOR_ROWS
      return {
        filter: `n ge ${border - before} and n lt ${border + after} or n eq ${rows.length - 1}`,
        passes: ({ n }: Row) => (n >= border - before && n < border + after) || n === rows.length - 1,
      }
    }),
  fc.record({ from: number, most: fc.nat(96) }).map(({ from, most }) => ({
    filter: `n ge ${from} and kind le ${most}`,
    passes: ({ n, kind }: Row) => n >= from && kind <= most,
  })),
  fc.record({ from: number, least: fc.nat(4) }).map(({ from, least }) => ({
    filter: `rare ge ${least} and n ge ${from}`,
    passes: ({ n, rare }: Row) => rare >= least && n >= from,
  })),
  fc.array(fc.nat(96), { minLength: 1, maxLength: 40 }).map((kinds) => ({
    filter: `kind in (${kinds.join(',')}) and rare ge 0`,
    passes: ({ kind, rare }: Row) => kinds.includes(kind) && rare >= 0,
  })),
)
const windows = fc.oneof(
  fc.record({ skip: fc.nat(3_000), top: fc.nat(1_500) }),
  fc.record({ top: fc.nat(900) }),
  fc.record({ last: fc.nat(1_500) }),
)

function windowOf(found: readonly Row[], { skip = 0, top, last }: QueryOptions): readonly Row[] {
  if (last !== undefined) return last === 0 ? [] : found.slice(-last)
  return found.slice(skip, top === undefined ? undefined : skip + top)
}

test('windows of random filters have the rows of the upload in its order', async () => {
  await fc.assert(
    fc.asyncProperty(filters, windows, fc.boolean(), async ({ filter, passes }, window, counted) => {
      using query = await dataset.query({ filter, select: 'n', ...window })
      const found = rows.filter(passes)
      if (counted) expect(await query.count()).toBe(found.length)
      const text = Buffer.concat(await Array.fromAsync(await query.bytes('csv'))).toString()
      const expected = windowOf(found, window).map(({ n }) => `${n}\n`)
      expect(text).toBe(`n\n${expected.join('')}`)
    }),
    { numRuns: 200 },
  )
})

test.each([
  ['a range in one row group', { filter: `n ge ${LARGE + 130_000} and n lt ${LARGE + 130_010}` }, 1],
  [
    'a range that begins in one and ends in the other',
    { filter: `n ge ${LARGE + 9} and n lt ${LARGE + 130_010}` },
    2,
  ],
  [
    'a column whose values are everywhere',
    { filter: `kind eq 5 and n ge ${LARGE} and n lt ${LARGE + 140_000}` },
    2,
  ],
  ['rows by their position', { skip: LARGE + 130_000, top: 10 }, 1],
] as const)('analyse() says how many row groups may have the rows: %s', async (_, options, read) => {
  using query = await dataset.query(options)
  expect(await query.analyse()).toMatchObject({ parts: { read: 1, of: 5 }, rowGroups: { read, of: 2 } })
})

test.each([
  [
    'kind eq 5',
    undefined,
    /^Reading takes .*only 0 of \d row groups, because the rows are not sorted by kind/,
  ],
  ['(n add 1) mod 2 eq 0', undefined, /^Reading takes .*The filter calculates with values/],
  [`n eq ${LARGE}`, undefined, /^Reading takes .*ruled out all but 1 of 2 row groups\.$/],
  [undefined, 'kind', /^Sorting takes \d+ % of the time\. With top/],
])('analyse() has a verdict on the filter %s and the order %s', async (filter, orderBy, verdict) => {
  using query = await dataset.query({ filter, orderBy })
  expect((await query.analyse()).verdict).toMatch(verdict)
})

test('after a step, statistics can exclude no row group', async () => {
  using query = await dataset.query({ compute: 'n mul 2 as twice', filter: 'n lt 0' })
  expect(await query.analyse()).toMatchObject({ parts: { read: 5, of: 5 }, rowGroups: { read: 6, of: 6 } })
})
