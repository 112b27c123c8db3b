import { EngineError } from '../../errors.ts'
import { invalid, mistyped } from '../errors.ts'
import {
  all,
  atom,
  call,
  caseWhen,
  cast,
  comparison,
  infix,
  LEVEL,
  negative,
  postfix,
  raise,
  type Sql,
} from '../sql/dialect.ts'
import { type PatternFlags, translatePattern } from '../sql/pattern.ts'
import { TYPE, type ValueKind } from '../values.ts'
import { type Argument, type CallSite, type FunctionRow, forKinds, of } from './overloads.ts'

const TEXTS: readonly ValueKind[] = ['string', 'string']

/** Functions of texts, and of what they hold. */
export const textFunctions: readonly FunctionRow[] = [
  {
    name: 'concat',
    args: ['first', 'second'],
    overloads: [of(TEXTS, TYPE.string, ([a, b]) => infix(a!, '||', b!, LEVEL.concat))],
    about: 'The second text appended to the first.',
    example: "concat(concat(City, ', '), Country) eq 'Berlin, Germany'",
  },
  {
    name: 'contains',
    args: ['text', 'part'],
    overloads: [
      of(
        TEXTS,
        TYPE.boolean,
        ([text, part]) => call('contains', typed(text!), typed(part!)),
        ([text, part]) => comparison(call('strpos', text!, part!), '>', atom('0')),
      ),
    ],
    about: 'Whether the text contains the part. No character is a wildcard.',
    example: "contains(Name, '100%')",
  },
  {
    name: 'endswith',
    args: ['text', 'part'],
    overloads: [
      of(
        TEXTS,
        TYPE.boolean,
        ([text, part]) => call('ends_with', text!, part!),
        ([text, part]) => comparison(call('substr', text!, negative(call('length', part!))), '=', part!),
      ),
    ],
    about: 'Whether the text ends with the part.',
    example: "endswith(Mail, '@example.org')",
  },
  {
    name: 'startswith',
    args: ['text', 'part'],
    overloads: [of(TEXTS, TYPE.boolean, (texts) => call('starts_with', ...texts))],
    about: 'Whether the text begins with the part.',
    example: "startswith(Code, 'A-')",
  },
  {
    name: 'indexof',
    args: ['text', 'part'],
    overloads: [
      of(TEXTS, TYPE.integer, (texts) => infix(call('strpos', ...texts), '-', atom('1'), LEVEL.additive)),
    ],
    about:
      'The position of the first occurrence of the part in the text, in characters from 0; -1 if there is none.',
    example: "indexof(Name, ' ') eq 4",
  },
  {
    name: 'length',
    args: ['text'],
    overloads: forKinds(['string'], TYPE.integer, (text) => call('length', text)),
    about: 'The number of characters (Unicode code points) of the text.',
    example: 'length(Code) eq 8',
  },
  {
    name: 'substring',
    args: ['text', 'start', 'length'],
    overloads: [['integer'], ['integer', 'integer']].map((numbers) => ({
      ...of(['string', ...(numbers as ValueKind[])], TYPE.string, substring),
      prepare: clip,
    })),
    about:
      'The part of the text from a position, counted from 0, to the end, or of at most the given length. A negative start or length fails.',
    example: "substring(Code, 2, 3) eq 'ABC'",
  },
  {
    name: 'tolower',
    args: ['text'],
    overloads: forKinds(['string'], TYPE.string, (text) => call('lower', text), inTrinosCase('lower')),
    about: 'The text in lower case, by the Unicode mapping of each single character.',
    example: "tolower(Name) eq 'milk'",
  },
  {
    name: 'toupper',
    args: ['text'],
    overloads: forKinds(['string'], TYPE.string, (text) => call('upper', text), inTrinosCase('upper')),
    about: 'The text in upper case, by the Unicode mapping of each single character.',
    example: "toupper(Country) eq 'AT'",
  },
  {
    name: 'trim',
    args: ['text'],
    overloads: [
      of(
        ['string'],
        TYPE.string,
        ([text], site) => call('trim', text!, site.parameter(WHITE_SPACE)),
        ([text], site) => trimmed(text!, site.parameter(WHITE_SPACE)),
      ),
    ],
    about:
      'The text without white space at both ends, which is every character that Unicode calls White_Space.',
    example: 'trim(Name) ne Name',
  },
  {
    name: 'matchesPattern',
    args: ['text', 'pattern', 'flags'],
    overloads: [TEXTS, [...TEXTS, 'string' as const]].map((takes) => ({
      ...of(
        takes,
        TYPE.boolean,
        ([text, pattern]) => call('regexp_matches', text!, pattern!),
        ([text, pattern]) => call('regexp_like', text!, pattern!),
      ),
      prepare: translate,
    })),
    about:
      "Whether an ECMAScript regular expression, which must be a literal, matches somewhere in the text. Flags: 'i' ignores case, 's' lets a dot match line ends. Lookaround and backreferences are not supported.",
    example: "matchesPattern(Name, '^a.*e$', 'i')",
  },
]

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

/** The characters that trim() removes. They are passed to DuckDB, because its own trim() removes blanks only. */
const WHITE_SPACE =
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000'

/** The largest position that DuckDB takes, counted from 0: DuckDB counts from 1, in 32 bits. No text is that long. */
const FURTHEST = 4_294_967_294n
const FURTHEST_SQL = atom(String(FURTHEST))

function substring([text, ...numbers]: readonly Sql[], site: CallSite): Sql {
  const refused: [Sql, Sql][] = []
  const [start, length] = numbers.map((number, index) => {
    if (site.values[index + 1]) return number
    const sentence = `${site.subject} fails: substring() at position ${site.position} got a negative ${index === 0 ? 'start' : 'length'} in a row.`
    // The result is null if any argument is null, so a null beside a negative number must not raise the error.
    const others = [text!, ...numbers].filter((other, at) => other !== number && !site.values[at])
    const known = others.map((other) => postfix(other, 'IS NOT NULL'))
    refused.push([all([comparison(number, '<', atom('0')), ...known]), raise(sentence, site.dialect)])
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
      "the flags of matchesPattern() are a literal: 'i' to ignore case, 's' to let a dot match line ends, or 'is'.",
    )
  }
  return { ignoreCase: text.includes('i'), dotAll: text.includes('s') }
}

/**
 * DuckDB makes a constant null of a joined text that is known to be null, and does not know then which `contains` is
 * meant, since there are others for lists.
 */
function typed(text: Sql): Sql {
  return text.level === LEVEL.concat ? cast(text, 'VARCHAR') : text
}
