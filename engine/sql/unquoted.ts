import { EngineError } from '../errors.ts'
import { quoteIdentifier } from '../types/index.ts'

/** A name of a column that stands in a statement without quotes. */
interface Unquoted {
  readonly name: string
  /** Where it begins. */
  readonly from: number
}

/** The names of columns that are written without quotes at a place of a statement, or right before it. */
export function unquotedAt(text: string, position: number, columns: readonly string[]): readonly Unquoted[] {
  const before = text.slice(0, position).trimEnd().length
  return columns.flatMap((name) => {
    // Only where it can be: a long statement is not searched for each of thousands of names.
    const least = Math.max(0, before - name.length)
    const near = text.slice(least, position + name.length).toLowerCase()
    const at = near.lastIndexOf(name.toLowerCase())
    const from = least + at
    const isWhole = !/[\w"]/.test(text.charAt(from - 1)) && !/[\w"]/.test(text.charAt(from + name.length))
    return at >= 0 && isWhole ? [{ name, from }] : []
  })
}

/** What to do about such a name. */
export function quotesFor(name: string): string {
  return `The name of the column needs double quotes: ${quoteIdentifier(name)}.`
}

/** How many tables are asked for their columns, and how many names are tried. */
const MOST_TABLES = 20
const MOST_NAMES = 5

const TABLE = /\b(?:from|join)\s+((?:"[^"]+"|[\w.])+)/gi

/** The tables that a statement seems to read, as it names them. */
export function tablesIn(text: string): readonly string[] {
  return [...text.matchAll(TABLE)].slice(0, MOST_TABLES).map(([, name]) => name!)
}

/**
 * The error of a statement that can't be read; it says so if the statement can be read further with quotes around the name of
 * a column, such as `order` or `net weight`.
 * @param columns of the tables that the statement seems to read
 */
export async function withQuotes(
  error: unknown,
  text: string,
  columns: () => Promise<readonly string[]>,
  parse: (text: string) => Promise<unknown>,
): Promise<unknown> {
  const position = positionOf(error)
  if (position === undefined) return error
  try {
    for (const { name, from } of unquotedAt(text, position, await columns()).slice(0, MOST_NAMES)) {
      const quoted = text.slice(0, from) + quoteIdentifier(name) + text.slice(from + name.length)
      const next = await parse(quoted).then(() => undefined, positionOf)
      if (next !== undefined && next <= position + 2) continue
      const { code, message, details } = error as EngineError
      return new EngineError(code, `${message} ${quotesFor(name)}`, { cause: error, details })
    }
  } catch {
    // What is wrong with the statement is known.
  }
  return error
}

/** Where a statement can't be read. */
function positionOf(error: unknown): number | undefined {
  return error instanceof EngineError && error.code === 'invalid_sql' ? error.details?.position : undefined
}
