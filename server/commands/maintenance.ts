import { chmodSync, copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Engine, restoreBackup } from '../../engine/index.ts'
import { startProgress } from './progress.ts'

/** `parquetry verify`: every part against the catalog. Gives whether all is well. */
export async function verify(engine: Engine): Promise<boolean> {
  using progress = startProgress(
    'verify',
    (await engine.datasets()).reduce((sum, one) => sum + one.bytes, 0),
  )
  const report = await engine.verify(({ bytes, parts, of }) => {
    progress.note(`${parts}/${of} parts`)
    progress.bytes(bytes)
  })
  progress[Symbol.dispose]()
  for (const { dataset, part, problem } of report.problems) {
    console.error(`dataset ${dataset}${part === undefined ? '' : `, part ${part}`}: ${problem}`)
  }
  console.log(
    `${report.datasets} datasets, ${report.parts} parts, ${report.rows} rows, ${report.bytes} bytes: ` +
      (report.problems.length === 0 ? 'all well' : `${report.problems.length} problems`),
  )
  return report.problems.length === 0
}

/** `parquetry backup`: a copy as of one moment, with the secret that opens saved provider keys. */
export async function backup(engine: Engine, data: string, directory: string): Promise<void> {
  using progress = startProgress(
    'backup',
    (await engine.datasets()).reduce((sum, one) => sum + one.bytes, 0),
  )
  const { parts, bytes, copied } = await engine.backup(directory, (done) => progress.bytes(done.bytes))
  copySecret(data, directory)
  progress[Symbol.dispose]()
  console.log(`${parts} parts, ${bytes} bytes; ${copied} of the parts were not in the copy yet`)
}

/** `parquetry restore`: a backup into a new data directory. */
export async function restore(from: string, data: string): Promise<void> {
  const { parts, bytes } = await restoreBackup(from, data)
  copySecret(from, data)
  console.log(`${parts} parts, ${bytes} bytes restored; all are what was written`)
}

function copySecret(from: string, to: string): void {
  const secret = join(from, 'secret')
  if (!existsSync(secret)) return
  copyFileSync(secret, join(to, 'secret'))
  chmodSync(join(to, 'secret'), 0o600)
}

/** `parquetry gc`: removes what nothing needs. */
export async function gc(engine: Engine): Promise<void> {
  const swept = await engine.gc()
  console.log(`${swept.files} files removed, ${swept.bytes} bytes; ${swept.processes} dead processes cleared`)
}
