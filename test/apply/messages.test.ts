import { describe, expect, test } from 'vitest'
import { type EngineError, httpWords } from '../../engine/errors.ts'
import { planQuery, type QueryOptions } from '../../engine/plan/plan.ts'

const COLUMNS = [
  { name: 'Id', type: 'integer', sql: 'c0' },
  { name: 'City', type: 'string', sql: 'c1' },
  { name: 'Delay', type: 'double', sql: 'c2' },
  { name: 'Unit price', type: 'decimal(10,2)', sql: 'c3' },
] as const

function refusal(options: QueryOptions): string {
  try {
    planQuery(
      { columns: COLUMNS, rows: 1, rowBytes: 1, scan: () => ({ kind: 'foreign', sql: 't' }) },
      options,
    )
  } catch (error) {
    return (error as EngineError).inWords(httpWords).message
  }
  throw new Error(`${JSON.stringify(options)} was not refused`)
}

describe('all names that no column has are listed at once', () => {
  const listed = (option: string, names: string) =>
    `${option} contains invalid column(s): ${names}. Column names are case-sensitive.`

  test.each([
    ['groupby((nope,City),aggregate(Dly with sum as x))', 'nope, Dly'],
    ['filter(a eq 1 and b eq 2)/orderby(c,d desc)/topcount(1,e)', 'a, b, c, d, e'],
    ['compute(a as x,b as y)/filter(x gt y and z gt 1)', 'a, b, z'],
    ['groupby((City),aggregate($count as n))/filter(Id gt 1 and n gt 1)', 'Id'],
    [
      'groupby((rollup(a,b)),groupby((City),aggregate(c with max as d)))/filter(a eq d or City eq e)',
      'a, b, c, e',
    ],
    ['concat(groupby((City)),aggregate(q with sum as City))/filter(Id eq 1)', 'q, Id'],
    ['filter(nope eq 1)/filter(nope eq 2)', 'nope'],
  ])('$apply=%s', (apply, names) => {
    expect(refusal({ apply })).toContain(listed('Apply', names))
  })

  test('$compute and $orderby', () => {
    expect(refusal({ compute: 'a mul 2 as x, b as y' })).toBe(listed('Compute', 'a, b'))
    expect(refusal({ orderBy: 'a add 1, b desc' })).toBe(listed('Orderby', 'a, b'))
  })
})

describe('messages of $apply', () => {
  const OPEN = "found '5', where '(' after top is expected."
  test.each([
    ['', 'At position 1: the text is empty. Write a transformation, as in groupby((City)).'],
    ['filtr(Id gt 5)', "At position 1: 'filtr' is not a transformation. Did you mean filter?"],
    ['join(x)', 'At position 1: join() is not supported here: a dataset is one flat table.'],
    ['top 5', `At position 5: ${OPEN}`],
    ['top(5', "At position 6: the text ends, where ')' is expected."],
    ['top(5))', "At position 7: found ')', where '/' and a transformation, or the end, is expected."],
    ['top(2 add 1)', 'At position 5: a number is expected here.'],
    ['topcount(Id,Delay)', 'At position 10: this number is one for all rows, so it can use no columns.'],
    ['topcount(0.5 add 1,Delay)', 'At position 10: a whole number is expected here.'],
    ['topcount(2)', "At position 11: found ')', where ',' and what is compared is expected."],
    [
      'filter(Delay gt 5 foo)',
      "At position 19: found 'foo', where an operator like eq or and, or ')', is expected.",
    ],
    [
      'compute(Delay mul 2)',
      "At position 20: found ')', where 'as' and a name, as in Price mul 2 as Twice, is expected.",
    ],
    ['compute(Delay mul 2 as x y)', "At position 26: found 'y', where ',' or ')' is expected."],
    ['compute(Delay as Id)', 'At position 18: there is already a column "Id"; choose another name.'],
    [
      'aggregate(Delay sum as x)',
      "At position 17: found 'sum', where 'with' and a method, as in Price with sum as Total, is expected.",
    ],
    [
      'aggregate(Delay with sum)',
      "At position 25: found ')', where 'as' and a name, as in Price with sum as Total, is expected.",
    ],
    [
      'aggregate(Delay with sum from Id with average as x)',
      "At position 26: 'from' is not supported here. Write groupby(…)/aggregate(…) in its place.",
    ],
    [
      'filter($count gt 2)',
      "At position 8: '$count' can stand only in aggregate(), as in aggregate($count as Number).",
    ],
    ['groupby(City)', "At position 9: found 'City', where '(' and the columns to group by is expected."],
    ['groupby((City,))', "At position 15: found ')', where a column is expected."],
    ['groupby((rollup(City)))', 'At position 10: rollup() takes two columns or more, the coarsest first.'],
    [
      'concat(identity)',
      "At position 16: found ')', where ',' and a second sequence of transformations is expected.",
    ],
    [
      'identity/',
      'At position 10: the text ends, where a transformation, as filter(…) or groupby(…), is expected.',
    ],
    ['identity x', "At position 10: found 'x', where '/' and a transformation, or the end, is expected."],
    ['search', "At position 1: 'search' is followed by '(' and the words to search for."],
    ['search(a', "At position 9: the text ends, where ')' is expected."],
  ])('%s', (apply, message) => {
    expect(refusal({ apply })).toBe(`$apply: ${message}`)
  })
})

describe('messages of $orderby, $compute and $search', () => {
  test.each([
    [{ orderBy: 'Id desc desc' }, "$orderby: At position 9: found 'desc', where ',' or the end is expected."],
    [
      { orderBy: 'Delay foo' },
      "$orderby: At position 7: found 'foo', where an operator like eq or and, or asc, desc, ',' or the end, is expected.",
    ],
    [{ compute: 'Delay as' }, '$compute: At position 9: the text ends, where a name is expected.'],
    [{ search: ' ' }, '$search: At position 1: the search is empty. Write a word.'],
    [{ search: "'\" '" }, '$search: At position 1: the search is empty. Write a word.'],
    [{ search: '"a' }, '$search: At position 1: this phrase has no closing ".'],
    [{ search: 'a)' }, "$search: At position 2: found ')' without a '(' before it."],
    [{ search: '(a' }, "$search: At position 3: the text ends, where ')' is expected."],
    [{ search: '()' }, "$search: At position 2: found ')', where a word is expected."],
    [
      { filter: 'search(City)' },
      "At position 1: search(…) can stand only in $apply. Write contains(x, 'a'), or use $search.",
    ],
  ])('%j', (options, message) => {
    expect(refusal(options)).toBe(message)
  })
})
