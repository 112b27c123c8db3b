/** The databases that SQL is made for. */
export type DialectName = 'duckdb' | 'trino'

/**
 * A fragment of SQL. It knows how tightly its operator binds, so that parentheses are written only where DuckDB needs
 * them, and whether its evaluation can fail on a value in the data.
 */
export interface Sql {
  readonly text: string
  readonly level: Level
  /**
   * Whether it can fail at run time, by overflow, division by zero or a negative length. Code that joins conditions
   * must then guard it.
   */
  readonly fallible: boolean
}

/** DuckDB's operator precedence, loosest first. */
export const LEVEL = {
  or: 1,
  and: 2,
  not: 3,
  comparison: 4,
  concat: 5,
  additive: 6,
  multiplicative: 7,
  negative: 8,
  atom: 9,
} as const
export type Level = (typeof LEVEL)[keyof typeof LEVEL]

export function atom(text: string): Sql {
  return { text, level: LEVEL.atom, fallible: false }
}

export const TRUE = atom('TRUE')
export const FALSE = atom('FALSE')
export const NAN = atom("CAST('NaN' AS DOUBLE)")
export const INFINITY = atom("CAST('Infinity' AS DOUBLE)")

/** Wrapped in parentheses unless it binds more tightly than `level`. */
function within(part: Sql, level: Level): string {
  return part.level > level ? part.text : `(${part.text})`
}

export function call(name: string, ...args: readonly Sql[]): Sql {
  return {
    text: `${name}(${args.map((arg) => arg.text).join(', ')})`,
    level: LEVEL.atom,
    fallible: args.some((arg) => arg.fallible),
  }
}

export function cast(part: Sql, type: string): Sql {
  return { text: `CAST(${part.text} AS ${type})`, level: LEVEL.atom, fallible: part.fallible }
}

/** Null where the value can't be cast. */
export function tryCast(part: Sql, type: string): Sql {
  return { text: `TRY_CAST(${part.text} AS ${type})`, level: LEVEL.atom, fallible: part.fallible }
}

/** A left-associative binary operator. */
export function infix(left: Sql, operator: string, right: Sql, level: Level): Sql {
  const outer = (level - 1) as Level
  // An operand of the same level needs no parentheses on the left, except in comparisons, which can't be chained.
  const first = level === LEVEL.comparison ? within(left, level) : within(left, outer)
  return {
    text: `${first} ${operator} ${within(right, level)}`,
    level,
    fallible: left.fallible || right.fallible,
  }
}

export function comparison(left: Sql, operator: string, right: Sql): Sql {
  return infix(left, operator, right, LEVEL.comparison)
}

/** `x IS NULL` and similar conditions. */
export function postfix(part: Sql, words: string): Sql {
  return {
    text: `${within(part, LEVEL.comparison)} ${words}`,
    level: LEVEL.comparison,
    fallible: part.fallible,
  }
}

export function negative(part: Sql): Sql {
  return { text: `-${within(part, LEVEL.negative)}`, level: LEVEL.negative, fallible: part.fallible }
}

export function not(part: Sql): Sql {
  return {
    text: `NOT ${within(part, LEVEL.comparison)}`,
    level: LEVEL.not,
    fallible: part.fallible,
  }
}

/** `a AND b AND c`; one part stands for itself. */
export function all(parts: readonly Sql[]): Sql {
  return chain(parts, 'AND', LEVEL.and)
}

/** `a OR b OR c`; one part stands for itself. */
export function any(parts: readonly Sql[]): Sql {
  return chain(parts, 'OR', LEVEL.or)
}

function chain(parts: readonly Sql[], operator: string, level: Level): Sql {
  if (parts.length === 1) return parts[0]!
  const outer = (level - 1) as Level
  return {
    text: parts.map((part) => within(part, outer)).join(` ${operator} `),
    level,
    fallible: parts.some((part) => part.fallible),
  }
}

export function caseWhen(branches: readonly (readonly [when: Sql, then: Sql])[], otherwise?: Sql): Sql {
  const whens = branches.map(([when, then]) => `WHEN ${when.text} THEN ${then.text}`)
  const last = otherwise ? ` ELSE ${otherwise.text}` : ''
  return {
    text: `CASE ${whens.join(' ')}${last} END`,
    level: LEVEL.atom,
    fallible:
      branches.some(([when, then]) => when.fallible || then.fallible) || (otherwise?.fallible ?? false),
  }
}

export function fallible(part: Sql): Sql {
  return part.fallible ? part : { ...part, fallible: true }
}

/** A condition that gives true or false only: null becomes false. */
export function orFalse(part: Sql): Sql {
  return call('coalesce', part, FALSE)
}

/** A condition that gives true or false only: null becomes true. */
export function orTrue(part: Sql): Sql {
  return call('coalesce', part, TRUE)
}

/** For each database, the function that raises an error. */
const RAISES = { duckdb: 'error', trino: 'fail' } as const satisfies Record<DialectName, string>

/** SQL that raises an error instead of giving a value. The message must never hold text of a user. */
export function raise(message: string, dialect: DialectName = 'duckdb'): Sql {
  return fallible(atom(`${RAISES[dialect]}('${message.replaceAll("'", "''")}')`))
}
