import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { IS_CLUSTER } from '../../cluster/elsewhere.ts'
import { serveProcess } from '../process.ts'

/** Packages that few servers or few requests need, each of which takes long to load. */
const LATER = /^(undici|zod|pg|avsc|exceljs|apache-arrow|@(modelcontextprotocol|aws-sdk|scalar)\/.*)$/

/** A module that writes down what each process loads, in a file named by the process. */
const spy = (folder: string) =>
  `import { appendFileSync } from 'node:fs'; import { registerHooks } from 'node:module';
  registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(`${folder}/`)} + process.pid, url + '\\n'); return next(url, context) } })`

test.skipIf(IS_CLUSTER)('a server answers before it has loaded what few requests need', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-start-'))
  const data = join(folder, 'data')
  const flag = `--import=data:text/javascript,${encodeURIComponent(spy(folder))}`
  try {
    await using server = await serveProcess({ data, environment: { NODE_OPTIONS: flag } })
    const loaded = readFileSync(join(folder, String(server.pid)), 'utf8')
    const packages = new Set(loaded.match(/(?<=\/node_modules\/)(@[^/]+\/)?[^/]+/g))
    expect(packages).toContain('fastify')
    expect([...packages].filter((name) => LATER.test(name))).toEqual([])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
