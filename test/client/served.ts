import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadSamples } from '../../server/commands/serve.ts'
import { readConfig } from '../../server/config/read.ts'
import { serve } from '../../server/serve.ts'

export interface Served extends AsyncDisposable {
  readonly url: string
  readonly key: string
}

/** A real server on a free port, over a data directory of its own with the samples in it. */
export async function serveSamples(environment: Readonly<Record<string, string>> = {}): Promise<Served> {
  const data = mkdtempSync(join(tmpdir(), 'parquetry-served-'))
  const key = 'a-key-for-these-tests'
  const config = readConfig({ data, port: '0' }, { PARQUETRY_ROOT_KEY: key, ...environment })
  const server = await serve(config, { write: () => undefined })
  await loadSamples(server.engine, server.publish)
  return {
    url: server.url,
    key,
    async [Symbol.asyncDispose]() {
      await server.close()
      rmSync(data, { recursive: true, force: true })
    },
  }
}
