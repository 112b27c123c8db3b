import type { Dataset } from '../../../client/index.ts'
import { api, isStatus } from '../api.ts'
import { formatCount, plural } from '../format.ts'
import { ask } from '../ui/form.tsx'
import { announce, perform } from '../ui/toast.tsx'

/** Takes back what one version changed. */
export function undoVersion(id: number, version: number): Promise<void> {
  const { datasets } = api()
  return perform(
    () => datasets.undo(id, version),
    ({ version: made, matchedRows }) =>
      `${plural(matchedRows, 'row')} of version ${version} changed back, as version ${made}.`,
    ({ version: made }) => takeBack(id, made),
  )
}

/** Makes the version before this one current again, unless others have changed the rows since. */
export async function takeBack(id: number, version: number): Promise<unknown> {
  const now = await api().datasets.tagged(id)
  if (now.version !== version) throw new Error(CHANGED)
  return restoreFrom(now, version - 1)
}

const CHANGED = 'The rows have changed since. See History.'

/** Makes an earlier version current again, if the dataset is still as it was read. */
async function restoreFrom({ id, etag }: Tagged, version: number): Promise<Dataset> {
  try {
    return await api().datasets.restore(id, version, { ifMatch: etag })
  } catch (error) {
    throw isStatus(error, 412) ? new Error(CHANGED) : error
  }
}

type Tagged = Dataset & { readonly etag: string }

/** Says what changes if an earlier version is restored, and asks; offers to undo it. */
export async function restore(id: number, number: number, after?: () => void): Promise<void> {
  const { datasets } = api()
  const [now, then] = await Promise.all([datasets.tagged(id), datasets.version(id, number)])
  const undone =
    now.version === number + 1
      ? `The change of version ${now.version} is undone`
      : `The changes of versions ${number + 1} to ${now.version} are undone`
  const difference = then.rowCount - (now.rowCount ?? 0)
  ask({
    title: `Restore version ${number}?`,
    text:
      `The table has ${plural(then.rowCount, 'row')} afterwards, ` +
      `${difference === 0 ? 'as many as now' : `${formatCount(Math.abs(difference))} ${difference < 0 ? 'fewer' : 'more'} than now`}. ` +
      `${undone}, for everybody. All versions stay in the history, so this can be undone as well.`,
    action: 'Restore',
    async onSubmit() {
      const made = await restoreFrom(now, number)
      announce(`Version ${number} is current again, as version ${made.version}.`, () =>
        takeBack(id, made.version),
      )
      after?.()
    },
  })
}
