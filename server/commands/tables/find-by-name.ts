import { nearest } from '../../../engine/index.ts'
import { UsageError } from '../usage.ts'
import type { DatasetLine, RepositoryLine, Tables } from './tables.ts'

/** Finds a repository by its id or its name. @throws UsageError if none or several match */
export async function findRepository(tables: Tables, text: string): Promise<RepositoryLine> {
  const all = await tables.repositories.list()
  const found = matching(all, text)
  if (found.length === 1) return found[0]!
  if (found.length > 1) throw new UsageError(several('repositories', text, found))
  const known = all.length === 0 ? 'There are none yet' : `There are ${list(all)}`
  throw new UsageError(
    `There is no repository ${JSON.stringify(text)}. ${known}; \`parquetry repository create NAME\` makes one.`,
  )
}

/**
 * Finds a dataset by its id, or by repository/dataset, where each is a name or an id. @throws UsageError if none or
 * several match
 */
export async function findDataset(tables: Tables, text: string): Promise<DatasetLine> {
  const all = await tables.datasets.list()
  if (/^\d+$/.test(text)) {
    const found = all.find(({ id }) => String(id) === text)
    if (found) return found
    throw new UsageError(`There is no dataset ${text}. \`parquetry repository list\` shows all datasets.`)
  }
  // Names may contain slashes, so the text can't simply be split at one.
  const repositories = await tables.repositories.list()
  const namesOf = ({ name, id, repositoryId }: DatasetLine) => {
    const home = repositories.find((one) => one.id === repositoryId)
    const homes = [...(home ? [home.name] : []), String(repositoryId)]
    return homes.flatMap((one) => [`${one}/${name}`, `${one}/${id}`])
  }
  const found = all.filter((dataset) => namesOf(dataset).includes(text))
  if (found.length === 1) return found[0]!
  if (found.length > 1) throw new UsageError(several('datasets', text, found))
  const near = nearest(text, all.flatMap(namesOf))
  const hint = near === undefined ? '' : ` Did you mean ${near}?`
  throw new UsageError(
    `There is no dataset ${JSON.stringify(text)}.${hint} Name it by its id or as repository/dataset; \`parquetry repository list\` shows both.`,
  )
}

/** If the text is the id of one repository and the name of another, the id counts. */
function matching<Line extends RepositoryLine>(lines: readonly Line[], text: string): Line[] {
  const byId = lines.filter(({ id }) => String(id) === text)
  return byId.length > 0 ? byId : lines.filter(({ name }) => name === text)
}

function several(what: string, text: string, found: readonly RepositoryLine[]): string {
  return `${found.length} ${what} are named ${JSON.stringify(text)}; use an id instead: ${found.map(({ id }) => id).join(', ')}.`
}

const MOST_NAMED = 8

function list(lines: readonly RepositoryLine[]): string {
  const named = lines.slice(0, MOST_NAMED).map(({ id, name }) => `${name} (${id})`)
  return named.join(', ') + (lines.length > MOST_NAMED ? ` and ${lines.length - MOST_NAMED} more` : '')
}

/**
 * Does work for a dataset. If it fails, a dataset that the command has made for it is removed again, because it would
 * stay empty.
 */
export async function orRemoved<T>(
  tables: Tables,
  { id, isNew }: { readonly id: number; readonly isNew: boolean },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // If the dataset can't be removed either, the first error still says more.
    if (isNew) await tables.datasets.delete(id).catch(() => {})
    throw error
  }
}
