import type { Dataset, NewDataset, Repository } from '../../../client/index.ts'
import { api } from '../api.ts'

export function choicesOf(homes: readonly Repository[]) {
  return homes.map(({ id, name }) => [String(id), name] as const)
}

/** The fields of a form for a new dataset. */
export function newDatasetFields(name: string, homes: readonly Repository[]) {
  return {
    name: { label: 'Name of the dataset', value: name, required: true, maxLength: 255 },
    home: { label: 'Repository', value: String(homes[0]!.id), options: choicesOf(homes) },
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
