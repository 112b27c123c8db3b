import type { Dataset, NewDataset, Repository } from '../../../client/index.ts'
import { api } from '../api.ts'

/** Repositories, of which one takes a new dataset, and who makes it. */
export interface Homes {
  readonly homes: readonly Repository[]
  readonly account: string
}

/** The repository that is made where somebody has none. */
const NEW = { name: 'My data', private: true }

const isMade = ({ name, private: isPrivate }: Repository) => name === NEW.name && isPrivate

/** The repositories of a choice. Of public ones it says so. */
export function choicesOf(homes: readonly Repository[]) {
  return [
    ...homes.map(({ id, name, private: isPrivate }) => {
      return [String(id), isPrivate ? name : `${name} (public)`] as const
    }),
    ...(homes.some(isMade) ? [] : [['', `a new private one, “${NEW.name}”`] as const]),
  ]
}

/** What is chosen at first: a private repository of one's own, because others may read what is in all others. */
export function firstChoice(homes: readonly Repository[], account: string): string {
  return String(homes.find((one) => one.private && one.owner === account)?.id ?? '')
}

/** The id of the repository that was chosen. A new one may be there already, from an attempt that failed. */
export async function chosenRepository(home: string): Promise<number> {
  if (home !== '') return Number(home)
  const { repositories, account } = api()
  const [{ name: own }, known] = await Promise.all([account.get(), repositories.list()])
  const made = known.find((one) => isMade(one) && one.owner === own)
  return (made ?? (await repositories.create(NEW))).id
}

/**
 * The fields of a form for a new dataset.
 * @param hidden whether its rows come from a private repository, so that a public one has to be confirmed
 */
export function newDatasetFields(name: string, { homes, account }: Homes, hidden = false) {
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
