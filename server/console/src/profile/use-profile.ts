import type { Dataset } from '../../../client/index.ts'
import { api } from '../api.ts'
import type { Profiles } from '../filter/types.ts'
import { useResource } from '../ui/resource.tsx'

/** Pauses between two questions, in milliseconds, each twice as long as the one before. */
const [SHORTEST, LONGEST] = [200, 30_000]

/** What the values of each column are like, by its name. The server counts all rows of a version once, when asked. */
export function useProfile({ id, version }: Dataset, wanted: boolean) {
  return useResource<Profiles | undefined>(
    async (signal) => {
      for (let pause = SHORTEST; wanted; pause = Math.min(2 * pause, LONGEST)) {
        const made = await api().datasets.profile(id, { signal })
        if (made) return new Map(made.columns.map((column) => [column.name, column]))
        await new Promise((resolve) => setTimeout(resolve, pause))
      }
      return undefined
    },
    [id, version, wanted],
  )
}
