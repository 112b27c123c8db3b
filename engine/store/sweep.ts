import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Versions } from '../catalog/versions.ts'
import type { Layout } from './layout.ts'
import type { Leases } from './leases.ts'
import { forgetDeadProcesses } from './process.ts'

/** What was removed: files of parts, their bytes, and processes that did not end by themselves. */
export interface Swept {
  readonly files: number
  readonly bytes: number
  readonly processes: number
}

/** Removes what crashes have left, so it must run where nobody else serves the directory. */
export function sweep(layout: Layout, versions: Versions, leases: Leases): Swept {
  const processes = forgetDeadProcesses(layout, versions)
  // Files first, catalog second: a part is registered before its file appears, so none is taken for a leftover.
  const found = readdirSync(layout.parts)
  leases.settle()
  versions.reclaim()
  const known = new Set(versions.allParts().map((part) => `${part.id}.parquet`))
  let files = 0
  let bytes = 0
  for (const name of found) {
    if (known.has(name)) continue
    const file = join(layout.parts, name)
    bytes += statSync(file, { throwIfNoEntry: false })?.size ?? 0
    files += 1
    rmSync(file, { recursive: true, force: true })
  }
  return { files, bytes, processes }
}
