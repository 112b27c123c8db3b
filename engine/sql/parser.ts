import { LRUCache } from 'lru-cache'
import { sqlError } from './errors.ts'
import type { TreeNode } from './nodes.ts'
import type { Lend } from './process/sql-pool.ts'

/** A statement's text is short. Beyond this, reading it would take longer than most statements run. */
const MOST_TEXT = 100_000
/** Trees are remembered by their texts, because the same statement is asked for many times. */
const REMEMBERED_BYTES = 8 << 20

/** Has users' SQL parsed by DuckDB, in one of the processes that run it. */
export class SqlParser {
  readonly #parsed = new LRUCache<string, string>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: (tree) => tree.length + 1,
  })

  /** The tree of the only statement in a text. @throws EngineError `invalid_sql`, `overloaded`, `cancelled` */
  async parse(text: string, lend: Lend, signal: AbortSignal | undefined): Promise<TreeNode> {
    if (typeof text !== 'string' || !text.isWellFormed() || text.includes('\0')) {
      throw sqlError('invalid_sql', 'The statement must be text.')
    }
    if (text.length > MOST_TEXT) {
      throw sqlError(
        'invalid_sql',
        `The statement has ${text.length} characters; at most ${MOST_TEXT} are read.`,
      )
    }
    let tree = this.#parsed.get(text)
    if (tree === undefined) {
      using lent = await lend(signal)
      tree = (await lent.process.run('parse', { text }, signal ? { signal } : {}, 'a statement')) as string
      this.#parsed.set(text, tree)
    }
    return onlyStatement(tree, text)
  }
}

/** The only statement of a tree. @throws EngineError `invalid_sql` */
function onlyStatement(tree: string, text: string): TreeNode {
  const parsed = parsedTree(tree, text)
  const { statements = [] } = parsed
  if (parsed.error) {
    const select = 'Only one SELECT is run here (also WITH, VALUES, FROM, DESCRIBE, SUMMARIZE; PIVOT with IN)'
    if (parsed.error_type !== 'parser') throw sqlError('invalid_sql', `${select}; this is something else.`)
    const position = parsed.position === undefined ? undefined : Number(parsed.position)
    throw sqlError(
      'invalid_sql',
      `The SQL can not be read: ${parsed.error_message?.split(/\.* Use "SET/, 1)[0]}.`,
      charactersIn(text, position),
    )
  }
  if (statements.length === 1) return statements[0]!
  throw sqlError(
    'invalid_sql',
    statements.length === 0 ? 'There is no statement.' : 'There is more than one statement.',
  )
}

interface ParsedTree {
  readonly error: boolean
  readonly error_type?: string
  readonly error_message?: string
  readonly position?: string
  readonly statements?: TreeNode[]
}

/** DuckDB writes a number that is too large as Infinity, which JSON does not have. @throws EngineError `invalid_sql` */
function parsedTree(tree: string, text: string): ParsedTree {
  try {
    return JSON.parse(tree, exactly(text) as never)
  } catch (error) {
    const numbers = [...text.matchAll(/[\d_.]+(e\+?\d+)?/gi)]
    const match = numbers.find(([number]) => Number(number.replaceAll('_', '')) === Number.POSITIVE_INFINITY)
    throw sqlError('invalid_sql', 'A number is larger than 1.8e308.', match?.index, error)
  }
}

/** Reads numbers exactly, and places as characters of the text. */
function exactly(text: string) {
  const isAscii = Buffer.byteLength(text) === text.length
  return (key: string, value: unknown, { source }: { readonly source?: string }): unknown => {
    if (typeof value !== 'number') return value
    if (key === 'query_location') return isAscii ? value : charactersIn(text, value)
    // DuckDB does not take 500 for 500.0.
    const isOther = Number.isInteger(value) && (!Number.isSafeInteger(value) || /\D/.test(source!.slice(1)))
    return isOther ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(source!) : value
  }
}

/** DuckDB counts bytes. */
function charactersIn(text: string, bytes: number | undefined): number | undefined {
  return bytes === undefined ? undefined : Buffer.from(text).subarray(0, bytes).toString().length
}
