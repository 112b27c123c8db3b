import { afterAll, beforeAll, expect, test } from 'vitest'
import { EngineError } from '../../engine/errors.ts'
import type { QueryOptions } from '../../engine/plan/options.ts'
import { planQuery } from '../../engine/plan/plan.ts'
import { rowsStatement } from '../../engine/plan/sql.ts'
import { Random } from '../filter/support/random.ts'
import { Asked } from './support/asked.ts'

/** How many texts; a longer run sets it, and another seed with it. */
const COUNT = Number(process.env['PARQUETRY_TEST_STRINGS'] ?? 5_000)
const SEED = Number(process.env['PARQUETRY_TEST_SEED'] ?? 20_261_122)
/** One in so many of those that are taken is run. */
const RUN_ONE_IN = 5
const SLOWEST_MS = 50

const TYPES = {
  K: 'string',
  N: 'integer',
  P: 'decimal(10,2)',
  D: 'double',
  Day: 'date',
  Doc: 'json',
} as const

const SEEDS = [
  'groupby((K,D),aggregate(N with sum as A,$count as C))',
  "filter(N gt 3 and contains(K,'x'))/aggregate(P mul N with average as M)",
  'concat(top(3),skip(2)/orderby(N desc))',
  'groupby((rollup(K,D)),aggregate(D with p95 as Q))',
  'compute(year(Day) as y,P mul 2 as z)/groupby((y))',
  'topcount(5,N)/search("a b" OR NOT c)',
  'toppercent(50,P)/identity',
  'aggregate(Doc/a/0 with max as m)',
  'groupby((K),topsum(3.5,P)/compute(case(N gt 1:2,true:0) as w))',
  'search(words AND (more OR "x"))',
  'N mul 2 as double',
  'length(K) desc, N',
]

const PIECES = [
  ...[
    '(',
    ')',
    ',',
    ',',
    '/',
    ' ',
    '"',
    "'",
    '[',
    ']',
    '@p',
    '$count',
    'as',
    'with',
    'sum',
    'groupby',
    'filter',
  ],
  ...[
    'aggregate',
    'rollup',
    'concat',
    'not',
    'and',
    'eq',
    'null',
    'NaN',
    '-',
    '5',
    '1e9',
    '2024-01-01',
    'cast(',
  ],
  ...[
    'case(',
    ':',
    '\\',
    '\u0000',
    '\ud800',
    'é',
    '😀',
    'N',
    'K',
    'top(',
    'skip(',
    'search(',
    'compute(',
    '\n',
  ],
]

const OPTIONS = ['apply', 'apply', 'apply', 'compute', 'search', 'orderBy'] as const

let asked: Asked
beforeAll(async () => {
  asked = await Asked.create(TYPES, [
    ['a', '1', '1.50', '0.5', '2024-02-29', '{"a":[1]}'],
    [null, null, null, null, null, null],
  ])
})
afterAll(() => asked[Symbol.asyncDispose]())

test(`${COUNT} texts give an answer or a clear refusal, quickly`, {
  timeout: 60_000 + COUNT * 5,
}, async () => {
  const random = new Random(SEED)
  const tally = { taken: 0, refused: 0 }
  for (let index = 0; index < COUNT; index++) {
    const options: QueryOptions = { [random.pick(OPTIONS)]: mutated(random) }
    if (!isTaken(options)) tally.refused++
    else if (tally.taken++ % RUN_ONE_IN === 0) await run(options)
  }
  expect(tally.taken).toBeGreaterThan(COUNT / 50)
  expect(tally.refused).toBeGreaterThan(COUNT / 5)
})

function mutated(random: Random): string {
  let text = random.pick(SEEDS)
  for (let count = 1 + random.below(5); count > 0; count--) {
    const at = random.below(text.length + 1)
    const way = random.below(4)
    if (way === 0) text = text.slice(0, at) + text.slice(at + 1 + random.below(5))
    else if (way === 1) {
      const other = random.pick(SEEDS)
      text = text.slice(0, at) + other.slice(random.below(other.length))
    } else
      text =
        text.slice(0, at) + random.pick(PIECES).repeat(way === 2 ? 1 : 1 + random.below(20)) + text.slice(at)
  }
  return text
}

/**
 * Time of the processor, for on a busy machine the clock runs on while others work. The compiler of JavaScript and the
 * collector of garbage can hit anything once; what is slow stays so.
 */
function isTaken(options: QueryOptions): boolean {
  let elapsed = 0
  for (let round = 0; round < 3; round++) {
    const start = process.cpuUsage()
    const taken = isPlanned(options)
    const { user, system } = process.cpuUsage(start)
    elapsed = (user + system) / 1000
    if (elapsed <= SLOWEST_MS) return taken
  }
  throw new Error(`${JSON.stringify(options)} takes ${elapsed} ms`)
}

function isPlanned(options: QueryOptions): boolean {
  try {
    planQuery(
      { columns: asked.columns, rows: 2, rowBytes: 1, scan: () => ({ kind: 'foreign', sql: 't' }) },
      options,
    )
    return true
  } catch (error) {
    if (error instanceof EngineError && error.code !== 'internal' && /^[A-Z$].*[.?]$/s.test(error.message))
      return false
    throw new Error(`${JSON.stringify(options)} raises ${error}`, { cause: error })
  }
}

async function run(options: QueryOptions): Promise<void> {
  try {
    await asked.answer(options)
  } catch (error) {
    if (!(error instanceof EngineError))
      throw new Error(`${JSON.stringify(options)} fails: ${error}`, { cause: error })
  }
}

test('nothing that a user writes reaches SQL but through parameters', () => {
  const mark = 'zqzqz'
  const columns = [{ name: mark, type: 'string', sql: 'c0' }] as const
  const sqlOf = (options: QueryOptions) =>
    rowsStatement(
      planQuery({ columns, rows: 1, rowBytes: 1, scan: () => ({ kind: 'foreign', sql: 't' }) }, options),
      undefined,
    )
  for (const options of [
    {
      apply: `filter(${mark} eq '${mark}')/compute('${mark}' as ${mark}2)/groupby((${mark}),aggregate(${mark}2 with max as "${mark}'; DROP"))`,
    },
    { apply: `concat(search(${mark}),search("${mark}'"))/orderby(concat(${mark},'${mark}'))` },
    {
      compute: `concat(${mark},'${mark}') as "${mark}""--"`,
      search: `${mark} OR "${mark}"`,
      orderBy: `indexof(${mark},'${mark}')`,
    },
    { filter: `${mark} in @${mark}`, aliases: { [`@${mark}`]: `['${mark}']` } },
  ] satisfies QueryOptions[]) {
    const { sql, parameters } = sqlOf(options)
    expect(sql).not.toContain(mark)
    expect(parameters.join()).toContain(mark)
  }
})
