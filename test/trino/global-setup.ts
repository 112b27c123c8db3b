import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TrinoStats } from '../../engine/index.ts'
import { freePort } from '../cluster/s3-server.ts'
import { ROOT_KEY } from '../server/platform.ts'
import { TRINO_PROGRAM, TrinoServer } from './trino-server.ts'

/** One Trino for all tests. At the end it says how many questions it answered. */
export default async function setup(): Promise<() => Promise<void>> {
  if (!TRINO_PROGRAM) throw new Error('These tests need a Trino: npm run cluster:install -- --trino')
  const port = await freePort()
  const trino = await TrinoServer.start({ catalog: `http://127.0.0.1:${port}/iceberg`, key: ROOT_KEY })
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-trino-tally-'))
  const tally = join(folder, 'tally')
  Object.assign(process.env, {
    TRINO_FORCED_URL: trino.url,
    TRINO_FORCED_PORT: String(port),
    TRINO_FORCED_TALLY: tally,
  })
  return async () => {
    const lines = existsSync(tally) ? readFileSync(tally, 'utf8').trim().split('\n') : []
    const sum = { answered: 0, repeated: 0, failed: 0 }
    for (const line of lines) {
      const one: TrinoStats = JSON.parse(line)
      for (const of of Object.keys(sum) as (keyof typeof sum)[]) sum[of] += one[of]
    }
    console.log(`Trino: ${JSON.stringify(sum)}`)
    rmSync(folder, { recursive: true, force: true })
    await trino[Symbol.asyncDispose]()
  }
}
