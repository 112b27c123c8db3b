import type { QueryOptions } from '../../../engine/plan/plan.ts'
import type { Random } from '../../filter/support/random.ts'

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

/** A query option that is nearly right. Its columns are K, N, P, D, Day and Doc. */
export function mutatedQuery(random: Random): QueryOptions {
  return { [random.pick(OPTIONS)]: mutated(random) }
}

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
