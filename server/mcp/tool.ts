import { describe, type Option, type OptionTable, plainName } from '../../engine/options.ts'
import type { Client, Dataset } from '../client/index.ts'
import type { JsonSchema, object } from '../records/schema.ts'

/** A tool for agents. All tools are read-only and have the permissions of the client's key. */
export interface Tool {
  readonly name: string
  readonly title: string
  /** What the tool does and when to use it. Agents know nothing else about it. */
  readonly description: string
  readonly arguments: ReturnType<typeof object>
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

/** An answer with the notes that there are. */
export function noted<Answer extends object>(
  answer: Answer,
  ...notes: readonly (string | false | undefined)[]
): Answer & { readonly note?: string } {
  const note = notes.filter(Boolean).join(' ')
  return note === '' ? answer : { ...answer, note }
}

/** JSON in which bigints are strings, so that they keep all digits. */
export function text(value: unknown): string {
  return JSON.stringify(value, (_key, one) => (typeof one === 'bigint' ? String(one) : one))
}

/** Matches numbers that are text in JSON: those of many digits, NaN and the infinities. */
const AS_TEXT = /^(?:-?\d+(?:\.\d+)?|NaN|-?INF)$/

/** Rows whose numbers are text in all rows of a column where they are in one. */
export function inOneKind(rows: readonly Record<string, unknown>[]): readonly Record<string, unknown>[] {
  const [long, other] = [new Set<string>(), new Set<string>()]
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      if (typeof value === 'bigint' || (typeof value === 'string' && AS_TEXT.test(value))) long.add(name)
      else if (value !== null && typeof value !== 'number') other.add(name)
    }
  }
  const isText = (name: string, value: unknown) =>
    typeof value === 'number' && long.has(name) && !other.has(name)
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, isText(name, value) ? String(value) : value]),
    ),
  )
}

/** The argument that names a dataset; tools are run with its id. */
export const DATASET = {
  type: ['integer', 'string'],
  minimum: 1,
  description:
    'Id of the dataset, from find_datasets, or its name: repository/dataset, owner/repository/dataset, or dataset ' +
    'where only one of yours, or of all, has it.',
}

/** The id of a dataset that is given by it or by name. @throws ParquetryError if there is none, or if there are several */
export async function datasetId(
  client: Client,
  given: number | string,
  signal: AbortSignal,
): Promise<number> {
  if (typeof given === 'number' || /^\d+$/.test(given)) return Number(given)
  if (!given.includes('/')) {
    const named = (await client.datasets.list({ signal })).filter(({ name }) => name === given)
    const [found, another] = named.length > 1 ? await ownOf(client, named, signal) : named
    if (found && !another) return found.id
  }
  return (await client.datasets.named(given, { signal })).id
}

type Listed = Pick<Dataset, 'id' | 'repositoryId'>

/** Those in repositories of the key's account: a name that others give to a public dataset takes nobody's away. */
async function ownOf(
  client: Client,
  datasets: readonly Listed[],
  signal: AbortSignal,
): Promise<readonly Listed[]> {
  const [{ name }, repositories] = await Promise.all([
    client.account.get({ signal }),
    client.repositories.list({ signal }),
  ])
  const own = new Set(repositories.filter(({ owner }) => owner === name).map(({ id }) => id))
  return datasets.filter(({ repositoryId }) => own.has(repositoryId))
}

const TEXT = { type: 'string' }
const LIST = { type: 'array', items: TEXT, minItems: 1 }

const SCHEMAS: Readonly<Record<Exclude<Option['kind'], 'aliases'>, JsonSchema>> = {
  text: TEXT,
  count: { type: 'integer', minimum: 0 },
  flag: { type: 'boolean' },
  character: TEXT,
  texts: LIST,
  columns: LIST,
  order: TEXT,
}

/** Options as arguments of a tool, as JSON Schema. Agents need no aliases: they write values where they belong. */
export function argumentsOf(table: OptionTable): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    Object.entries(table).flatMap(([name, option]) => {
      const { kind, values } = option
      if (kind === 'aliases') return []
      const description = describe(name, table, plainName)
      return [[plainName(name, option), { ...SCHEMAS[kind], ...(values && { enum: values }), description }]]
    }),
  )
}
