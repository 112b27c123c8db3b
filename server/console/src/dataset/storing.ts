import type { Dataset, NewDataset, Repository } from '../../../client/index.ts'
import { api, type Shelves } from '../api.ts'

/** The repositories of a choice. Of public ones it says so. */
export function choicesOf(homes: readonly Repository[]) {
  return [
    ...homes.map(({ id, name, private: isPrivate }) => {
      return [String(id), isPrivate ? name : `${name} (public)`] as const
    }),
    ['', 'a new private one, “My data”'] as const,
  ]
}

/** What is chosen at first: a private repository of one's own, because others may read what is in all others. */
export function firstChoice(homes: readonly Repository[], account: string): string {
  return String(homes.find((one) => one.private && one.owner === account)?.id ?? '')
}

/** The id of the repository that was chosen. */
export async function chosenRepository(home: string): Promise<number> {
  return Number(home) || (await api().repositories.create({ name: 'My data', private: true })).id
}

/**
 * The fields of a form for a new dataset.
 * @param hidden whether its rows come from a private repository, so that a public one has to be confirmed
 */
export function newDatasetFields(name: string, { homes, account }: Shelves, hidden = false) {
  const writable = homes.filter(({ permission }) => permission === 'Write')
  const open = new Set(writable.filter((one) => !one.private).map(({ id }) => String(id)))
  return {
    name: { label: 'Name of the dataset', value: name, required: true, maxLength: 255 },
    home: { label: 'Repository', value: firstChoice(writable, account), options: choicesOf(writable) },
    agreed: {
      label: 'Everybody with a key may read what is private now',
      value: false,
      required: true,
      when: ({ home }: Readonly<Record<string, unknown>>) => hidden && open.has(String(home)),
    },
  }
}

/** Stores rows in a dataset, or in a new one, which is deleted again if that fails. */
export async function store(
  target: number | NewDataset,
  write: (id: number) => Promise<Dataset>,
): Promise<Dataset> {
  if (typeof target === 'number') return write(target)
  const { id } = await api().datasets.create(target)
  try {
    return await write(id)
  } catch (failure) {
    await api()
      .datasets.delete(id)
      .catch(() => undefined)
    throw failure
  }
}
