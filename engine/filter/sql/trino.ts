import { typeName, type ValueType } from '../values.ts'
import { call, cast, convertedScalar, duckType, NotTranslatable, type SqlDialect } from './dialect.ts'

/** The types that Trino names differently. */
const TRINO_TYPES: Partial<Record<ValueType['kind'], string>> = {
  // Without (6), Trino's types of times and timestamps hold milliseconds only.
  time: 'TIME(6)',
  timestamp: 'TIMESTAMP(6)',
  timestamptz: 'TIMESTAMP(6) WITH TIME ZONE',
  binary: 'VARBINARY',
}

function trinoType(type: ValueType): string {
  return TRINO_TYPES[type.kind] ?? duckType(type)
}

/**
 * Characters whose case or accents Trino and DuckDB take in different ways, because each knows another version of
 * Unicode. The last range, of old scripts, contains many others.
 */
const DISPUTED =
  '0 7FD 898-89F 8CA-8FF 9FE AFA-AFF B55 C00 C04 C3C C81 CF3 D00-D01 D3B-D3C D81 EBA ECE 1715 17B4-17B5 180F ' +
  '1885-1886 19B0-19C0 19C8-19C9 1AB0-1ACE 1BAB-1BAD 1C89 1CF2 1CF4 1CF7-1CF9 1DE7-1DFB A674-A67B A69E-A69F ' +
  'A7CB-A7CC A7DA A7DC A82C A8C5 A8FF A9E5 AA7C-AA7D AAEB-AAEF AAF5-AAF6 FE27-FE2F 10000-1EFFF'
const DISPUTED_SQL = `'[${DISPUTED.replaceAll(/\w+/g, '\\x{$&}').replaceAll(' ', '')}]'`

/** Years that Trino's casts can't read: they take four digits only. */
const FAR_YEAR = /^\d{5,}-|\(BC\)/

/**
 * SQL of Trino (476). It expects the session's time zone to be UTC, and the setting `regex-library=RE2J`. Whatever
 * Trino can't express with the same meaning as DuckDB throws `NotTranslatable`: functions and operators whose rows have no
 * property `trino`, values in JSON, and moments before year 1 or after 9999.
 */
export const trino: SqlDialect = {
  name: 'trino',
  parameter: (number) => `$${number}`,
  type: trinoType,
  literal(text, type) {
    const moment = type.kind === 'date' || type.kind === 'timestamp' || type.kind === 'timestamptz'
    if (moment && FAR_YEAR.test(text)) throw new NotTranslatable('a year before 1 or after 9999')
    return text
  },
  converted(part, from, to) {
    if (from.kind === 'json') throw new NotTranslatable(`${typeName(to)} in JSON`)
    return convertedScalar(part, from, to, trinoType)
  },
  jsonText() {
    throw new NotTranslatable('a value in JSON')
  },
  // A disputed character makes Trino fail, so that DuckDB runs the query instead.
  plain(text) {
    const bare = `normalize(regexp_replace(normalize(lower(${text}), NFD), '\\p{M}'), NFC)`
    return `CASE WHEN regexp_like(${text}, ${DISPUTED_SQL}) THEN fail('a rare character') ELSE ${bare} END`
  },
  contains: (text, part) => `strpos(${text}, ${part}) > 0`,
  isAmong: (x, joined, separator, type) => {
    const split = call('split', joined, separator)
    const list = type.kind === 'string' ? split : cast(split, `ARRAY(${trinoType(type)})`)
    return call('contains', list, x)
  },
}

/**
 * Replaces numbered parameters by `?`, because Trino's parameters have no numbers: each `?` takes the next value.
 * Quoted texts and names in the SQL are left as they are.
 * @param sql SQL with parameters like `$1`, each of which may occur several times
 */
export function positional(
  sql: string,
  parameters: readonly string[],
): { readonly sql: string; readonly parameters: readonly string[] } {
  const inOrder: string[] = []
  const text = sql.replaceAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\d+)/g, (found, number?: string) => {
    if (number === undefined) return found
    inOrder.push(parameters[Number(number) - 1]!)
    return '?'
  })
  return { sql: text, parameters: inOrder }
}
