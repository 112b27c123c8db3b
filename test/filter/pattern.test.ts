import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PatternFlags, translatePattern } from '../../engine/filter/sql/pattern.ts'
import { Random } from './support/random.ts'
import { Table } from './support/table.ts'

let table: Table
beforeAll(async () => {
  table = await Table.create({ s: 'string' }, [['x']])
})
afterAll(() => table[Symbol.asyncDispose]())

const TEXTS = [
  ...[
    '',
    'a',
    'b',
    'A',
    'ab',
    'abc',
    'aaa',
    'ba',
    '1',
    '12',
    '_',
    '-',
    '.',
    '\\',
    '[',
    ']',
    '{',
    '}',
    '/',
    '^',
    '$',
  ],
  ...[
    ' ',
    '\t',
    '\n',
    'a\nb',
    '\r',
    '\v',
    '\f',
    '\u00a0',
    '\u2028',
    '\u3000',
    '\ufeff',
    '\u0085',
    '\b',
    '\u0001',
  ],
  ...[
    'é',
    'e\u0301',
    'ß',
    'Σ',
    'я',
    '日本',
    '🎉',
    'a🎉b',
    '\u{17f}',
    '\u{212a}',
    '\u{10ffff}',
    'a b',
    'x-y',
    'foo.bar',
    'A1b2',
  ],
]

/** Which of the texts DuckDB matches with a translated pattern. */
async function matches(pattern: string, flags?: PatternFlags): Promise<string[]> {
  const rows = TEXTS.map((_, index) => `(${index}, $${index + 2})`).join(', ')
  const sql = `SELECT n FROM (VALUES ${rows}) AS t(n, v) WHERE regexp_matches(v, $1) ORDER BY n`
  return (await table.query(sql, [translatePattern(pattern, flags), ...TEXTS])).map((n) => TEXTS[Number(n)]!)
}

function expected(pattern: string, flags = ''): string[] {
  const regex = new RegExp(pattern, `u${flags}`)
  return TEXTS.filter((text) => regex.test(text))
}

describe('a pattern matches what it matches in ECMAScript', () => {
  test.each([
    ...[
      '',
      'a',
      '^a',
      'a$',
      '^a$',
      '.',
      '^.$',
      '^.{2}$',
      'a|b',
      '^(a|b)$',
      '^(?:a|b)+$',
      '^(?<x>a)b',
      'a*',
      '^a+$',
      'a??b',
    ],
    ...[
      '\\d',
      '\\D',
      '\\w',
      '\\W',
      '\\s',
      '\\S',
      '^\\s$',
      '^\\S$',
      '[\\s]',
      '[^\\s]',
      '[\\S]',
      '[^\\S]',
      '[\\d\\s]',
      '[^\\w]',
    ],
    ...[
      '\\bab',
      'b\\b',
      '\\Ba',
      '\\t',
      '\\n',
      '\\v',
      '\\f',
      '\\r',
      '\\0',
      '\\cA',
      '\\x61',
      '\\u0061',
      '\\u{1F389}',
      '\\ud83c\\udf89',
    ],
    ...[
      '[abc]',
      '[a-c]',
      '[^a-c]',
      '[a\\-c]',
      '[-a]',
      '[a-]',
      '[\\]]',
      '[\\^]',
      '[\\b]',
      '[.]',
      '[$]',
      '[\\n\\t]',
      '[é-я]',
      '[🎉]',
    ],
    ...[
      '[]',
      '[^]',
      '[^]a',
      'a{2}',
      'a{2,}',
      'a{1,2}',
      '^a{3}$',
      'a{0}',
      '^a{02}$',
      '(a|b){2}',
      '(?:a{2}){1,3}',
      '\\.',
      '\\\\',
      '\\/',
      '\\[',
      '\\{',
    ],
    ...[
      '\\p{L}',
      '\\P{L}',
      '\\p{Lu}',
      '\\p{Nd}',
      '[\\p{L}\\d]',
      '[^\\p{L}]',
      '\\p{Script=Greek}',
      '\\p{sc=Cyrillic}',
      '\\p{gc=Ll}',
    ],
    ...['a.b', 'x-y', '(?:)', '()', 'a|', '|a', '^$', '$^', '(?:a|ab)(?:c|bcd)?', '[[a]'],
  ])('%s', async (pattern) => {
    expect(await matches(pattern)).toEqual(expected(pattern))
  })

  test.each([
    '\\-',
    'x\\-y',
    '[\\-a]',
    '[\\_\\--\\@]',
    '\\\\\\-',
    'a\\ b',
    '\\_',
    '\\\\-',
  ])('a needless escape stands for its character: %s', async (pattern) => {
    const regex = new RegExp(pattern)
    expect(await matches(pattern)).toEqual(TEXTS.filter((text) => regex.test(text)))
  })

  test.each([...' !"#%&\',:;<=>@_`~'])('a backslash before %j is needless', (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase()
    expect(translatePattern(`a\\${character}`)).toMatch(new RegExp(`^a\\\\x\\{${code}\\}`))
  })

  test('random patterns', async () => {
    const random = new Random(20_241_103)
    for (let index = 0; index < 600; index++) {
      const pattern = randomPattern(random, 3)
      expect({ pattern, texts: await matches(pattern) }).toEqual({ pattern, texts: expected(pattern) })
    }
  })
})

describe('flags mean what they mean in ECMAScript', () => {
  test.each([
    ...['a', 'A', '[a-c]', '[^a]', 'ß', 'σ', 'Я', 'É', '\\w', '\\W', '[\\W]', '\\p{Lu}', '[^\\p{Lu}]'],
    ...['k', 's', '\\D', '\\S', 'A|1', '^AB', 'a.b', '[^]'],
  ])('%s without regard to case', async (pattern) => {
    expect(await matches(pattern, { ignoreCase: true, dotAll: false })).toEqual(expected(pattern, 'i'))
  })

  test('s lets a dot match line ends', async () => {
    expect(await matches('a.b', { ignoreCase: false, dotAll: true })).toEqual(expected('a.b', 's'))
  })

  test('what RE2 folds otherwise is refused', () => {
    expect(() => translatePattern('\\P{Lu}', { ignoreCase: true, dotAll: false })).toThrow(
      'without regard to case',
    )
  })
})

const ATOMS = [
  ...[
    'a',
    'b',
    'A',
    '1',
    '.',
    'é',
    '🎉',
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\s',
    '\\S',
    '\\n',
    '\\u00e9',
    '\\.',
    '\\-'.slice(1),
  ],
  ...[
    '[ab]',
    '[^ab]',
    '[a-z]',
    '[^\\s]',
    '[\\w.]',
    '[\\p{L}]',
    '\\p{Lu}',
    '[]',
    '[^]',
    '\\x41',
    '\\u{1F389}',
  ],
]

function randomPattern(random: Random, depth: number): string {
  const count = random.below(4)
  let pattern = ''
  for (let index = 0; index < count; index++) {
    const roll = random.below(10)
    if (roll === 0) pattern += random.pick(['^', '$', '\\b', '\\B'])
    else if (roll === 1 && depth > 0)
      pattern += `(?:${randomPattern(random, depth - 1)})${quantifier(random)}`
    else if (roll === 2 && depth > 0) {
      pattern += `(${randomPattern(random, depth - 1)}|${randomPattern(random, depth - 1)})`
    } else pattern += random.pick(ATOMS) + quantifier(random)
  }
  return pattern
}

function quantifier(random: Random): string {
  return random.chance(0.6)
    ? ''
    : random.pick(['*', '+', '?', '{2}', '{1,}', '{0,2}', '*?', '+?', '??', '{1,2}?'])
}

describe('what is no pattern, or none that is matched in linear time, is refused', () => {
  test.each([
    ['(?=a)', 'has a lookahead, which is not supported, at its character 1.'],
    ['a(?!b)', 'has a lookahead, which is not supported, at its character 2.'],
    ['(?<=a)b', 'has a lookbehind, which is not supported, at its character 1.'],
    ['🎉(?<!a)b', 'has a lookbehind, which is not supported, at its character 2.'],
    ['(a)\\1', 'has a backreference, which is not supported, at its character 4.'],
    ['(?<x>a)\\k<x>', 'has a backreference, which is not supported, at its character 8.'],
    ['(?i)a', "is not valid at its character 2: Invalid group. Flags stand in a third argument, as 'i'."],
    ['(?i:a)', 'has modifiers of flags, which is not supported, at its character 1.'],
    ['(?P<x>a)', 'is not valid at its character 2: Invalid group.'],
    ['(?<1>a)', 'is not valid at its character 4: Invalid capture group name.'],
    ['(a', 'is not valid at its character 3: Unterminated group.'],
    ['a)', "is not valid at its character 2: Unmatched ')'."],
    ['[a', 'is not valid at its character 3: Unterminated character class.'],
    ['[b-a]', 'is not valid at its character 5: Range out of order in character class.'],
    ['[a-\\d]', 'is not valid at its character 6: Invalid character class.'],
    ['*a', 'is not valid at its character 2: Nothing to repeat.'],
    ['a|+', 'is not valid at its character 4: Nothing to repeat.'],
    ['{2}', 'is not valid at its character 4: Nothing to repeat.'],
    ['a**', 'is not valid at its character 4: Nothing to repeat.'],
    ['a{2}{3}', 'is not valid at its character 8: Nothing to repeat.'],
    ['^*', 'is not valid at its character 3: Nothing to repeat.'],
    ['\\b+', 'is not valid at its character 4: Nothing to repeat.'],
    ['a{', 'is not valid at its character 3: Incomplete quantifier.'],
    ['a{3,2}', 'is not valid at its character 7: numbers out of order in {} quantifier.'],
    ['a{1001}', 'repeats more than 1000 times, counting nested repetitions, at its character 1.'],
    ['(?:a{100}){11}', 'repeats more than 1000 times, counting nested repetitions, at its character 1.'],
    ['a\\', 'is not valid at its character 3: Invalid escape.'],
    ['\\q', 'is not valid at its character 2: Invalid escape.'],
    ['\\,\\q', 'is not valid at its character 2: Invalid escape.'],
    ['\\x4', 'is not valid at its character 3: Invalid escape.'],
    ['\\u12', 'is not valid at its character 3: Invalid unicode escape.'],
    ['\\u{110000}', 'is not valid at its character 3: Invalid unicode escape.'],
    ['\\ud800', 'has half of a surrogate pair at its character 1.'],
    ['\\p{Foo}', 'is not valid at its character 7: Invalid property name.'],
    [
      'a\\p{Cn}',
      'has the property \\p{Cn}, which is not supported, at its character 2. Supported are categories by their short names, and Script=….',
    ],
    ['\\p{Alphabetic}', 'has the property \\p{Alphabetic}'],
  ])('%s', (pattern, message) => {
    expect(() => translatePattern(pattern)).toThrow(message)
  })

  test('patterns that would grow too large, or nest too deep', () => {
    expect(() => translatePattern('(?:\\p{L}[^a-z]\\W){1000}'.repeat(30))).toThrow('grows too large')
    expect(() => translatePattern('('.repeat(15_000))).toThrow('nests deeper than 100 groups')
    expect(() => translatePattern('a'.repeat(20_001))).toThrow('is longer than 20000 characters')
  })

  test('the largest that are let through compile', async () => {
    await expect(matches('(?:\\p{L}|[^a-zé]|\\W){1000}'.slice(0, 30))).resolves.toBeInstanceOf(Array)
    await expect(matches(`${'a{1000}'.repeat(40)}`)).resolves.toEqual([])
  })
})
