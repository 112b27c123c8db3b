import type { Tables } from './tables.ts'

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
    if (isNew) await tables.deleteDataset(id).catch(() => {})
    throw error
  }
}
