import { EngineError } from '../../errors.ts'
import { decimal, TYPE, type ValueKind, type ValueType } from '../check/value-types.ts'
import { invalid, mistyped } from '../errors.ts'
import {
  all,
  atom,
  call,
  caseWhen,
  cast,
  comparison,
  type DialectName,
  infix,
  LEVEL,
  negative,
  postfix,
  raise,
  type Sql,
} from '../sql/fragments.ts'
import { type PatternFlags, translatePattern } from '../sql/pattern.ts'
import { FIRST_MOMENT, LAST_MOMENT, type LiteralValue, PICOS_PER_MICRO } from '../syntax/literals.ts'
import type { MomentPartName } from '../syntax/moment-parts.ts'
import type { Argument, CallSite, Overload } from './overloads.ts'

export interface FunctionRow {
  readonly name: string
  /** Names of the arguments, for messages and the reference. */
  readonly args: readonly string[]
  readonly overloads: readonly Overload[]
  /** For a function without arguments: its value, which is the same for the whole query. */
  readonly constant?: (now: Date) => LiteralValue
  /** The part of a moment that it gives. For a literal, the checker computes it. */
  readonly ofMoment?: MomentPart
  readonly about: string
  readonly example: string
}

export interface MomentPart {
  readonly name: MomentPartName
  /**
   * Whether it takes a literal with another offset than UTC. Our moments are in UTC, and a service that keeps them so
   * must refuse such literals for year, month, day, hour and time (section 5.1.1.8), but not for the other functions.
   */
  readonly anyOffset: boolean
}

/** Every function. Adding one is adding a row. */
export const functionTable: readonly FunctionRow[] = [
  {
    name: 'concat',
    args: ['first', 'second'],
    overloads: [of(['string', 'string'], TYPE.string, (a, b) => infix(a!, '||', b!, LEVEL.concat))],
    about: 'The second text appended to the first.',
    example: "concat(concat(City, ', '), Country) eq 'Berlin, Germany'",
  },
  {
    name: 'contains',
    args: ['text', 'part'],
    overloads: [
      of(
        ['string', 'string'],
        TYPE.boolean,
        (text, part) => call('contains', text!, part!),
        (text, part) => comparison(call('strpos', text!, part!), '>', atom('0')),
      ),
    ],
    about: 'Whether the text holds the part, letter by letter: no character is a wildcard.',
    example: "contains(Name, '100%')",
  },
  {
    name: 'endswith',
    args: ['text', 'part'],
    overloads: [
      of(
        ['string', 'string'],
        TYPE.boolean,
        (text, part) => call('ends_with', text!, part!),
        (text, part) => comparison(call('substr', text!, negative(call('length', part!))), '=', part!),
      ),
    ],
    about: 'Whether the text ends with the part.',
    example: "endswith(Mail, '@example.org')",
  },
  {
    name: 'startswith',
    args: ['text', 'part'],
    overloads: [of(['string', 'string'], TYPE.boolean, (text, part) => call('starts_with', text!, part!))],
    about: 'Whether the text begins with the part.',
    example: "startswith(Code, 'A-')",
  },
  {
    name: 'indexof',
    args: ['text', 'part'],
    overloads: [
      of(['string', 'string'], TYPE.integer, (text, part) =>
        infix(call('strpos', text!, part!), '-', atom('1'), LEVEL.additive),
      ),
    ],
    about: 'Where the part first begins in the text, counted from 0 in characters; -1 if it is not there.',
    example: "indexof(Name, ' ') eq 4",
  },
  {
    name: 'length',
    args: ['text'],
    overloads: [of(['string'], TYPE.integer, (text) => call('length', text!))],
    about: 'How many characters (Unicode code points) the text has.',
    example: 'length(Code) eq 8',
  },
  {
    name: 'substring',
    args: ['text', 'start', 'length'],
    overloads: [substringOf('string', 'integer'), substringOf('string', 'integer', 'integer')],
    about:
      'The text from a start, counted from 0, to its end or for a length at most. A negative start or length fails.',
    example: "substring(Code, 2, 3) eq 'ABC'",
  },
  {
    name: 'tolower',
    args: ['text'],
    overloads: forKinds(['string'], TYPE.string, (text) => call('lower', text), inTrinosCase('lower')),
    about: 'The text in lower case, character by character as Unicode has it.',
    example: "tolower(Name) eq 'milk'",
  },
  {
    name: 'toupper',
    args: ['text'],
    overloads: forKinds(['string'], TYPE.string, (text) => call('upper', text), inTrinosCase('upper')),
    about: 'The text in upper case, character by character as Unicode has it.',
    example: "toupper(Country) eq 'AT'",
  },
  {
    name: 'trim',
    args: ['text'],
    overloads: [
      {
        takes: ['string'],
        gives: TYPE.string,
        duckdb: ([text], site) => call('trim', text!, site.parameter(WHITE_SPACE)),
        trino: ([text], site) => trimmed(text!, site.parameter(WHITE_SPACE)),
      },
    ],
    about: 'The text without white space at its ends: everything that Unicode calls White_Space.',
    example: 'trim(Name) ne Name',
  },
  {
    name: 'matchesPattern',
    args: ['text', 'pattern', 'flags'],
    overloads: [matchesOf('string', 'string'), matchesOf('string', 'string', 'string')],
    about:
      "Whether an ECMAScript regular expression, which must be a literal, matches somewhere in the text. Flags: 'i' ignores case, 's' lets a point match line ends. Lookaround and backreferences are not supported.",
    example: "matchesPattern(Name, '^a.*e$', 'i')",
  },
  datePart('year', 'The year. Year 0 is 1 BC.', 'year(Day) eq 2024'),
  datePart('month', 'The month, 1 to 12.', 'month(Day) eq 12'),
  datePart('day', 'The day of the month.', 'day(Day) eq 1'),
  timePart('hour', 'The hour, 0 to 23.', 'hour(Seen) lt 6', false),
  timePart('minute', 'The minute, 0 to 59.', 'minute(Seen) eq 30', true),
  timePart('second', 'The whole second, 0 to 59.', 'second(Seen) eq 0', true),
  {
    name: 'fractionalseconds',
    args: ['time'],
    overloads: [
      ...forKinds(['timestamp'], decimal(7, 6), fraction, lastSixDigits),
      ...forKinds(['timestamptz'], decimal(7, 6), fraction, (x) => lastSixDigits(cast(x, 'TIMESTAMP(6)'))),
      ...forKinds(['time'], decimal(7, 6), fraction, lastSixDigits),
    ],
    about: 'The fraction of the second, from 0 to below 1.',
    example: 'fractionalseconds(Seen) lt 0.1',
  },
  {
    name: 'date',
    args: ['moment'],
    overloads: forKinds(['date', 'timestamp', 'timestamptz'], TYPE.date, (x) => cast(x, 'DATE')),
    ofMoment: { name: 'date', anyOffset: true },
    about: 'The day of a moment, in UTC; of a literal, in its own offset.',
    example: 'date(Seen) eq 2024-02-29',
  },
  {
    name: 'time',
    args: ['moment'],
    overloads: [
      // Not in Trino, which is a second off before 1970.
      of(['timestamp'], TYPE.time, (x) => cast(x!, 'TIME'), null),
      of(['timestamptz'], TYPE.time, (x) => cast(cast(x!, 'TIMESTAMP'), 'TIME'), null),
    ],
    ofMoment: { name: 'time', anyOffset: false },
    about: 'The time of day of a moment, in UTC.',
    example: 'time(Seen) lt 12:00',
  },
  {
    name: 'totaloffsetminutes',
    args: ['moment'],
    overloads: forKinds(['timestamp', 'timestamptz'], TYPE.integer, (x) =>
      caseWhen([[postfix(x, 'IS NOT NULL'), cast(atom('0'), 'BIGINT')]]),
    ),
    ofMoment: { name: 'offset', anyOffset: true },
    about:
      'The offset of a moment from UTC in minutes: 0, because moments are held in UTC. A literal has its own.',
    example: 'totaloffsetminutes(Seen) eq 0',
  },
  {
    name: 'totalseconds',
    args: ['duration'],
    overloads: [
      of(['duration'], decimal(25, 6), (x) =>
        infix(cast(x!, 'DECIMAL(19,0)'), '*', cast(atom('0.000001'), 'DECIMAL(6,6)'), LEVEL.multiplicative),
      ),
    ],
    about: 'The length of a duration in seconds, with their fraction.',
    example: 'totalseconds(Ended sub Started) gt 90.5',
  },
  {
    name: 'now',
    args: [],
    overloads: [],
    constant: (now) => ({ kind: 'moment', picos: BigInt(now.getTime()) * 1_000_000_000n, offset: 0 }),
    about: 'The moment at which the query was made; one for all rows.',
    example: "Seen gt now() sub duration'PT1H'",
  },
  {
    name: 'mindatetime',
    args: [],
    overloads: [],
    constant: () => ({ kind: 'moment', picos: FIRST_MOMENT * PICOS_PER_MICRO, offset: 0 }),
    about: 'The earliest moment that can be held, -290308-12-22T00:00:00Z.',
    example: 'Seen gt mindatetime()',
  },
  {
    name: 'maxdatetime',
    args: [],
    overloads: [],
    constant: () => ({ kind: 'moment', picos: LAST_MOMENT * PICOS_PER_MICRO, offset: 0 }),
    about: 'The latest moment that can be held, 294247-01-10T04:00:54.775806Z.',
    example: 'Seen lt maxdatetime()',
  },
  rounding('round', 'The nearest whole number; halves go away from zero.', 'round(Price) eq 10'),
  rounding('floor', 'The next whole number below.', 'floor(Price) eq 9'),
  rounding('ceiling', 'The next whole number above.', 'ceiling(Price) eq 10', 'ceil'),
]

/** `case` has no row in the table, because its arguments are pairs and its type is the type of its results. */
export const CASE = {
  name: 'case',
  about:
    'The result beside the first condition that is true, null where none is. Results must be of one type, or all numbers.',
  example: "case(Price gt 100: 'high', true: 'low') eq 'high'",
}

/** `cast` has no row in the table, because its second argument is a type. */
export const CAST = {
  name: 'cast',
  about:
    'The value as another type, null where it has none: cast(Code, Edm.Int32) of a text that is no number. Numbers are rounded to whole ones, halves away from zero.',
  example: "cast(Stock, 'Edm.String') eq '10'",
}

const byName = new Map(functionTable.map((row) => [row.name.toLowerCase(), row]))

/** The row of a function. Upper and lower case of the name make no difference. */
export function functionRow(name: string): FunctionRow | undefined {
  return byName.get(name.toLowerCase())
}

type SqlOf = (...args: readonly (Sql | undefined)[]) => Sql

/** @param trino SQL for Trino where it differs from DuckDB's; null where Trino can't have the same meaning */
function of(takes: readonly ValueKind[], gives: ValueType, sql: SqlOf, trino: SqlOf | null = sql): Overload {
  return { takes, gives, duckdb: (args) => sql(...args), ...(trino && { trino: (args) => trino(...args) }) }
}

function forKinds(
  kinds: readonly ValueKind[],
  gives: ValueType,
  sql: (x: Sql) => Sql,
  trino: (x: Sql) => Sql = sql,
): Overload[] {
  return kinds.map((kind) =>
    of(
      [kind],
      gives,
      (x) => sql(x!),
      (x) => trino(x!),
    ),
  )
}

function datePart(name: 'year' | 'month' | 'day', about: string, example: string): FunctionRow {
  const overloads = [
    ...forKinds(['date', 'timestamp'], TYPE.integer, (x) => call(name, x)),
    // The cast is needed because DuckDB gives positive years before year 1 for a TIMESTAMPTZ. For a TIMESTAMP it counts
    // years as ISO 8601 does.
    of(
      ['timestamptz'],
      TYPE.integer,
      (x) => call(name, cast(x!, 'TIMESTAMP')),
      (x) => call(name, cast(x!, 'TIMESTAMP(6)')),
    ),
  ]
  return { name, args: ['moment'], overloads, ofMoment: { name, anyOffset: false }, about, example }
}

function timePart(
  name: 'hour' | 'minute' | 'second',
  about: string,
  example: string,
  anyOffset: boolean,
): FunctionRow {
  const overloads = forKinds(['timestamp', 'timestamptz', 'time'], TYPE.integer, (x) => call(name, x))
  return { name, args: ['time'], overloads, ofMoment: { name, anyOffset }, about, example }
}

function rounding(name: string, about: string, example: string, duck = name): FunctionRow {
  const overloads: Overload[] = [
    of(['integer'], TYPE.integer, (x) => x!),
    {
      takes: ['decimal'],
      gives: ([type]) => (type?.kind === 'decimal' ? decimal(type.precision, 0, type.floating) : TYPE.double),
      duckdb: ([x]) => call(duck, x!),
      trino: ([x]) => call(duck, x!),
    },
    of(['double'], TYPE.double, (x) => call(duck, x!)),
  ]
  return { name, args: ['number'], overloads, about, example }
}

function matchesOf(...takes: readonly ValueKind[]): Overload {
  return {
    takes,
    gives: TYPE.boolean,
    duckdb: ([text, pattern]) => call('regexp_matches', text!, pattern!),
    trino: ([text, pattern]) => call('regexp_like', text!, pattern!),
    prepare: translate,
  }
}

function fraction(x: Sql): Sql {
  return cast(over(remainder(call('microsecond', x), '1000000'), '1000000'), 'DECIMAL(7,6)')
}

/** The fraction of a second in Trino, cut from the text of the moment, which always ends in all six digits. */
function lastSixDigits(x: Sql): Sql {
  const digits = call('substr', cast(x, 'VARCHAR'), atom('-6'))
  return cast(infix(atom("'0.'"), '||', digits, LEVEL.concat), 'DECIMAL(7,6)')
}

/** Letters whose other case was added in Unicode 16. Java, and so Trino, knows it, but DuckDB doesn't. */
const NEW_LETTERS = {
  lower: '\\x{1C89}\\x{A7CB}\\x{A7CC}\\x{A7DA}\\x{A7DC}\\x{10D50}-\\x{10D65}',
  upper: '\\x{19B}\\x{264}\\x{1C8A}\\x{A7CD}\\x{A7DB}\\x{10D70}-\\x{10D85}',
} as const

/**
 * Makes Trino change case as DuckDB does. DuckDB turns ß into its capital, so ß is replaced before. A text with a
 * letter of Unicode 16 makes Trino fail, so that DuckDB runs the query instead.
 */
function inTrinosCase(name: 'lower' | 'upper'): (text: Sql) => Sql {
  return (text) => {
    const news = call('regexp_like', text, atom(`'[${NEW_LETTERS[name]}]'`))
    const sharp = name === 'upper' ? call('replace', text, atom("'ß'"), atom("'ẞ'")) : text
    return {
      ...caseWhen([[news, raise('a letter of Unicode 16', 'trino')]], call(name, sharp)),
      fallible: text.fallible,
    }
  }
}

/** SQL of trim() in Trino, which separates the arguments by words: `trim(BOTH … FROM …)`. */
function trimmed(text: Sql, characters: Sql): Sql {
  return { ...call('trim', text), text: `trim(BOTH ${characters.text} FROM ${text.text})` }
}

const over = (x: Sql, by: string): Sql => infix(x, '/', atom(by), LEVEL.multiplicative)
const remainder = (x: Sql, by: string): Sql => infix(x, '%', atom(by), LEVEL.multiplicative)

/** The characters that trim() removes. They are passed to DuckDB, because its own trim() removes blanks only. */
const WHITE_SPACE =
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000'

/** The largest position that DuckDB takes, counted from 0: DuckDB counts from 1, in 32 bits. No text is that long. */
const FURTHEST = 4_294_967_294n
const FURTHEST_SQL = atom(String(FURTHEST))

function substringOf(...takes: readonly ValueKind[]): Overload {
  return {
    takes,
    gives: TYPE.string,
    duckdb: (args, site) => substring(args, site, 'duckdb'),
    trino: (args, site) => substring(args, site, 'trino'),
    prepare: clip,
  }
}

function substring([text, ...numbers]: readonly Sql[], site: CallSite, dialect: DialectName): Sql {
  const refused: [Sql, Sql][] = []
  const [start, length] = numbers.map((number, index) => {
    if (site.values[index + 1]) return number
    const sentence = `The filter fails: substring() at position ${site.position} got a negative ${index === 0 ? 'start' : 'length'} in a row.`
    // The result is null if any argument is null, so a null beside a negative number must not raise the error.
    const others = [text!, ...numbers].filter((other, at) => other !== number && !site.values[at])
    const known = others.map((other) => postfix(other, 'IS NOT NULL'))
    refused.push([all([comparison(number, '<', atom('0')), ...known]), raise(sentence, dialect)])
    // least() can't be used, because it ignores nulls.
    return caseWhen([[comparison(number, '>', FURTHEST_SQL), FURTHEST_SQL]], number)
  })
  const first = infix(start!, '+', atom('1'), LEVEL.additive)
  const part = call('substr', text!, first, ...(length ? [length] : []))
  return refused.length === 0 ? part : caseWhen(refused, part)
}

/** Refuses negative literals for the start and the length, and cuts those that are larger than DuckDB takes. */
function clip<Given extends Argument>([text, ...numbers]: readonly Given[]): readonly Given[] {
  const clipped = numbers.map((number) => {
    if (number.value?.kind !== 'number') return number
    const { digits } = number.value
    if (digits < 0n) {
      throw invalid(number.at, 'substring() counts from 0; its start and length are never negative.')
    }
    return digits > FURTHEST ? { ...number, value: { ...number.value, digits: FURTHEST } } : number
  })
  return [text!, ...clipped]
}

/** Puts the pattern into the notation of DuckDB's matcher, with its flags as part of the pattern. */
function translate<Given extends Argument>([text, pattern, flags]: readonly Given[]): readonly Given[] {
  if (pattern?.value?.kind !== 'string') {
    throw mistyped(
      pattern!.at,
      "matchesPattern() takes its pattern as a literal, as in matchesPattern(Name, '^A').",
    )
  }
  try {
    const value = translatePattern(pattern.value.value, patternFlags(flags))
    return [text!, { ...pattern, value: { kind: 'string', value } }]
  } catch (error) {
    if (error instanceof EngineError) throw error
    throw invalid(pattern.at, `the pattern of matchesPattern() ${(error as Error).message}`)
  }
}

function patternFlags(flags: Argument | undefined): PatternFlags {
  const text = flags?.value?.kind === 'string' ? flags.value.value : flags ? undefined : ''
  if (text === undefined || !/^(?:i|s|is|si)?$/.test(text)) {
    throw invalid(
      flags!.at,
      "the flags of matchesPattern() are a literal: 'i' to ignore case, 's' to let a point match line ends, or 'is'.",
    )
  }
  return { ignoreCase: text.includes('i'), dotAll: text.includes('s') }
}
