import type { WorkContext } from './commits.ts'
import { lostFolder } from './layout.ts'
import type { FoundPart } from './objects/part-store.ts'

/** What a sweep removed: files of parts, their bytes, and the traces of processes that crashed or were killed. */
export interface Swept {
  readonly files: number
  readonly bytes: number
  readonly processes: number
}

/**
 * Removes what crashes have left. On a data directory it must only run while no other server has it. It removes nothing
 * if the catalog's state is not certainly on disk: a commit found in its log may be one that could never be synced.
 */
export async function sweep(context: WorkContext): Promise<Swept> {
  const { storage, parts, members, events } = context
  const { layout, database, files } = storage
  const swept = { files: 0, bytes: 0, processes: 0 }
  if (!(await database.settle())) return swept
  swept.processes = await members.forgetDead()
  // Files are listed before the catalog is read. A part is registered before its file appears, so no file of a new part
  // is taken for a leftover.
  const found: FoundPart[] = []
  for await (const one of files.list()) found.push(one)
  await context.commits.reclaim()
  await context.commits.tidyManifests(true)
  const known = await parts.all()
  const newest = await database.newestId('parts')
  const left = found.filter(({ id }) => id === undefined || !known.has(id))
  // An id that this catalog never gave means that the catalog was replaced by an older copy after the part was written.
  const foreign = left.filter(({ id = 0 }) => id > newest)
  if (foreign.length > 0) {
    const folder = await files.setAside(
      foreign.map(({ name }) => name),
      () => lostFolder(layout),
    )
    events.tell(
      'files_set_aside',
      `${foreign.length} of the parts are unknown to the catalog, which seems to be older than they are; they are ` +
        `now in ${folder}.`,
    )
  }
  for (const one of left) {
    if (foreign.includes(one)) continue
    swept.bytes += one.bytes
    swept.files += 1
    await files.removeFound(one.name)
  }
  await files.endUnfinished()
  return swept
}
