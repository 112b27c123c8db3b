import { readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Parts } from '../catalog/parts.ts'
import type { Versions } from '../catalog/versions.ts'
import type { Events } from '../events.ts'
import type { Hold } from './hold.ts'
import type { Leases } from './leases.ts'
import { lostFolder } from './lost.ts'
import type { FolderManifests } from './manifests.ts'
import { forgetDeadProcesses } from './process.ts'

/** What was removed: files of parts, their bytes, and processes that did not end by themselves. */
export interface Swept {
  readonly files: number
  readonly bytes: number
  readonly processes: number
}

/**
 * Removes what crashes have left, so it must run where nobody else serves the directory. Removes nothing where what the
 * catalog says is not on disk for certain: a commit found in its log may be one that could never be synced.
 */
export async function sweep(
  hold: Hold,
  versions: Versions,
  parts: Parts,
  leases: Leases,
  manifests: FolderManifests,
  events: Events,
): Promise<Swept> {
  const { layout, database } = hold
  if (!(await database.settle())) return { files: 0, bytes: 0, processes: 0 }
  const processes = await forgetDeadProcesses(layout, versions)
  // Files first, catalog second: a part is registered before its file appears, so none is taken for a leftover.
  const found = readdirSync(layout.parts)
  await leases.settle()
  await versions.reclaim()
  manifests.remove(await versions.gone(manifests.versions()))
  manifests.removeOthers()
  const known = new Set([...(await parts.all())].map((id) => `${id}.parquet`))
  const newest = await parts.newest()
  const left = found.filter((name) => !known.has(name))
  // A number that was never given belongs to a later catalog than this one, which an older copy has replaced.
  const foreign = left.filter((name) => Number.parseInt(name, 10) > newest)
  if (foreign.length > 0) {
    const folder = lostFolder(layout)
    for (const name of foreign) renameSync(join(layout.parts, name), join(folder, name))
    events.tell(
      'files_set_aside',
      `The catalog never knew ${foreign.length} of the parts, as if it were older than they are; they lie in ${folder}.`,
    )
  }
  let files = 0
  let bytes = 0
  for (const name of left) {
    if (foreign.includes(name)) continue
    const file = join(layout.parts, name)
    bytes += statSync(file, { throwIfNoEntry: false })?.size ?? 0
    files += 1
    rmSync(file, { recursive: true, force: true })
  }
  return { files, bytes, processes }
}
