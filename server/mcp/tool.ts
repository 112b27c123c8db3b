import type { Client } from '../client/index.ts'

/** A JSON Schema of a tool's arguments, as the protocol shows it to agents. */
export interface ArgumentsSchema {
  readonly type: 'object'
  readonly additionalProperties: false
  readonly required?: readonly string[]
  readonly properties: Readonly<Record<string, object>>
}

/** Something that an agent can do. All tools only read, with the rights of the client's key. */
export interface Tool {
  readonly name: string
  readonly title: string
  /** What it does and when to use it: all that an agent knows of it. */
  readonly description: string
  readonly arguments: ArgumentsSchema
  /** Takes arguments that fit the schema, and gives what is sent as JSON. @throws ParquetryError whose message the agent reads */
  run(client: Client, given: never, signal: AbortSignal): Promise<object>
}

/** An answer holds no more than this, so that it leaves room for thought. Whatever is cut is told of. */
export const MOST_CHARACTERS = 20_000

/** As many items from the start as fit into an answer. */
export function fitting<Item>(items: readonly Item[], room = MOST_CHARACTERS): readonly Item[] {
  let used = 0
  const end = items.findIndex((item) => {
    used += text(item).length + 1
    return used > room
  })
  return end < 0 ? items : items.slice(0, end)
}

/** JSON; whole numbers beyond 2^53 keep their digits as text. */
export function text(value: unknown): string {
  return JSON.stringify(value, (_key, one) => (typeof one === 'bigint' ? String(one) : one))
}
