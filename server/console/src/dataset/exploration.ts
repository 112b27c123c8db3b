import { useMemo } from 'preact/hooks'
import type { Explanation } from '../../../../engine/reading/explanation.ts'
import type { Column, Dataset } from '../../../client/index.ts'
import { api, fetchRows, isStatus } from '../api.ts'
import type { Profiles } from '../filter/syntax.ts'
import type { Address } from '../router.ts'
import { type RowSource, useRows } from '../table/windows.ts'
import { useResource, useRested } from '../ui/resource.tsx'
import {
  parseOrder,
  pipeline,
  type RowsOf,
  readShown,
  type View,
  viewQuery,
  whereOf,
  wherePart,
} from '../view/view.ts'

/** A dataset whose rows were counted, as those of a saved query must be. */
export type CountedDataset = Dataset & {
  readonly rowCount: number
  readonly isSaved: boolean
  /** Whether its rows are those of the newest version. */
  readonly isNewest: boolean
}

/**
 * Counts the rows. No rows are exported, so it doesn't count towards the monthly quota. @throws ParquetryError
 */
export async function countRows(datasetId: number, rows: RowsOf, signal: AbortSignal): Promise<number> {
  return (await fetchRows(datasetId, { ...whereOf(rows), top: 0, signal })).rowCount
}

export type Exploration = ReturnType<typeof useExploration>

/** The version that an address names, the first of which is 0; undefined where it names none. */
export const namedVersion = ({ version }: Address['query']) => (version ? Number(version) : undefined)

/** What the address shows of a dataset, and what is known about it. */
export function useExploration(dataset: CountedDataset, query: Address['query']) {
  const { filter = '', apply = '', orderby = '', columns: shown } = query
  const search = useRested(query['search'] ?? '')
  const version = namedVersion(query)
  const of = useMemo((): RowsOf => ({ filter, search, version }), [filter, search, version])
  const { columns, error: refused } = useResultColumns(dataset, of, apply)
  // Undefined until its columns are known.
  const view = useMemo(
    (): View | undefined =>
      columns && { ...of, apply, order: parseOrder(orderby), columns, shown: readShown(shown, columns) },
    [of, apply, orderby, columns, shown],
  )
  const { id } = dataset
  const shownRows = useMemo((): RowSource | undefined => {
    if (dataset.rowCount === 0 || !view) return
    const rows = viewQuery(view)
    return { columns: view.shown, fetch: (page) => fetchRows(id, { ...rows, ...page }) }
  }, [id, dataset.version, view])
  const found = useRows(shownRows)
  // The error may be an `ApplyRefused`.
  const rows = refused === undefined ? found : { windows: undefined, error: refused, pending: false }
  // The rows come first. Past versions have no profile.
  const profile = useProfile(
    dataset,
    !dataset.isSaved && version === undefined && found.windows !== undefined,
  )
  const { value: home } = useResource(
    (signal) => api().repositories.get(dataset.repositoryId, { signal }),
    [dataset.repositoryId],
  )
  const canWrite = home?.permission === 'Write'
  const { source, takesRows } = useSource(dataset)
  const canEdit = canWrite && takesRows && apply === '' && version === undefined
  const profiles = profile.value
  const access = { home, canWrite, source, canAdd: canWrite && takesRows, canEdit }
  return { dataset, query, of, apply, view, rows, profile, profiles, ...access }
}

/**
 * What the dataset follows; undefined if nothing, and until that is known. And whether rows may be added: the service
 * refuses them for a dataset that follows something.
 */
function useSource({ id, version, query }: Dataset) {
  const stored = query === undefined
  const { value: known, error } = useResource(
    async (signal) => (stored && (await api().datasets.source(id, { signal }))) || null,
    [id, version, stored],
  )
  // It is null where nothing is followed, so that a later request changes nothing until it is answered.
  const takesRows = stored && (known === null || (known === undefined && error !== undefined))
  return { source: known ?? undefined, takesRows }
}

/** The server refused `$apply` itself, not the filter before it. */
export class ApplyRefused extends Error {
  override readonly name = 'ApplyRefused'
}

/** The columns of a result, which are not described. */
export function columnsIn({ columns }: Explanation): readonly Column[] {
  return columns.map((column) => ({ ...column, nullable: true, description: '' }))
}

/** The columns of the result of `$apply`, or of the dataset if there is none. */
function useResultColumns(
  dataset: Dataset,
  rows: RowsOf,
  apply: string,
): { readonly columns: readonly Column[] | undefined; readonly error: unknown } {
  const { value, error } = useResource(
    async (signal) =>
      apply === '' ? undefined : { apply, columns: await resultColumns(dataset, rows, apply, signal) },
    [dataset.id, dataset.version, apply, apply === '' ? '' : wherePart(rows)],
  )
  if (apply === '') return { columns: dataset.columns, error }
  const isCurrent = error === undefined && value?.apply === apply
  return { columns: isCurrent ? value.columns : undefined, error }
}

async function resultColumns(
  dataset: Dataset,
  rows: RowsOf,
  apply: string,
  signal: AbortSignal,
): Promise<readonly Column[]> {
  try {
    const query = { apply: pipeline(rows, apply), version: rows.version, top: 0, signal }
    return columnsIn(await api().datasets.explain(dataset.id, query))
  } catch (error) {
    if (!isStatus(error, 400)) throw error
    // Test the filter separately: its errors are shown below the filter, with positions in the filter.
    const before = wherePart(rows)
    if (before !== '') await countRows(dataset.id, rows, signal)
    const { position, problem = error.message } = error.details
    // The user sees the pipeline without the filter before it.
    const start = before === '' ? 0 : before.length + 1
    throw new ApplyRefused(
      position === undefined ? problem : `At position ${position - start + 1}: ${problem}`,
    )
  }
}

/** Pauses between two questions, in milliseconds, each twice as long as the one before. */
const [SHORTEST, LONGEST] = [200, 30_000]

/** What the values of each column are like, by its name. The server counts all rows of a version once, when asked. */
function useProfile({ id, version }: Dataset, shown: boolean) {
  return useResource<Profiles | undefined>(
    async (signal) => {
      for (let pause = SHORTEST; shown; pause = Math.min(2 * pause, LONGEST)) {
        const made = await api().datasets.profile(id, { signal })
        if (made) return new Map(made.columns.map((column) => [column.name, column]))
        await new Promise((resolve) => setTimeout(resolve, pause))
      }
      return undefined
    },
    [id, version, shown],
  )
}
