import type { Dataset } from '../../../client/index.ts'
import { api } from '../api.ts'
import { formatDateTime } from '../format.ts'
import { updateQuery } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { Note } from '../ui/feedback.tsx'
import { changed } from '../ui/resource.tsx'
import { announce, complain } from '../ui/toast.tsx'

/** Says that the rows are those of an earlier version, and leads back. */
export function PastVersion(props: { readonly dataset: Dataset; readonly canWrite: boolean }) {
  const { dataset, canWrite } = props
  const back = () => updateQuery({ version: '' }, true)
  return (
    <Note icon="clock">
      You see version {dataset.version}, of {formatDateTime(dataset.updatedAt)}.{' '}
      <Button look="small" to={back} says="Back to the current rows" />{' '}
      {canWrite && (
        <Button
          look="small"
          to={() => restore(dataset.id, dataset.version).then(back)}
          says="Restore this version"
        />
      )}
    </Note>
  )
}

/** Makes an earlier version current again, and offers to undo that. */
export async function restore(id: number, version: number): Promise<void> {
  await api()
    .datasets.restore(id, version)
    .then(
      (made) =>
        announce(`Version ${version} is current again, as version ${made.version}.`, () =>
          restore(id, made.version - 1),
        ),
      complain,
    )
  changed()
}
