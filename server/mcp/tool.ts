import type { Client } from '../client/index.ts'

/** JSON Schema of a tool's arguments, which the protocol shows to agents. */
export interface ArgumentsSchema {
  readonly type: 'object'
  readonly additionalProperties: false
  readonly required?: readonly string[]
  readonly properties: Readonly<Record<string, object>>
}

/** A tool for agents. All tools are read-only and have the permissions of the client's key. */
export interface Tool {
  readonly name: string
  readonly title: string
  /** What the tool does and when to use it. Agents know nothing else about it. */
  readonly description: string
  readonly arguments: ArgumentsSchema
  /**
   * Runs the tool. The server has checked the arguments against the schema, and sends the result as JSON.
   * @throws ParquetryError whose message is shown to the agent
   */
  run(client: Client, given: never, signal: AbortSignal): Promise<object>
}

/**
 * The most characters of JSON in one answer, so that it leaves room in the agent's context. Tools add a note if they
 * cut something.
 */
export const MOST_CHARACTERS = 20_000

/** The first items that fit into an answer together. */
export function fitting<Item>(items: readonly Item[], room = MOST_CHARACTERS): readonly Item[] {
  let used = 0
  const end = items.findIndex((item) => {
    used += text(item).length + 1
    return used > room
  })
  return end < 0 ? items : items.slice(0, end)
}

/** JSON in which bigints are strings, so that they keep all digits. */
export function text(value: unknown): string {
  return JSON.stringify(value, (_key, one) => (typeof one === 'bigint' ? String(one) : one))
}
