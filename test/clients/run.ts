import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { type Client, PATIENCE, run } from './client.ts'
import { generatedClients } from './generated.ts'
import { openapiGenerator } from './generator.ts'
import { KINDS_COLUMNS, KINDS_CSV, KINDS_FILTERS, KINDS_FOUND } from './kinds.ts'

/*
 * Lets OData clients of other languages read our service, and clients that generators make of our OpenAPI document
 * read and write, and says what each found. A client whose runtime or whose
 * packages can't be had is reported as not run. Ends with 1 where a client found something wrong.
 */

const ROWS = 100_000
const SUM = (ROWS * (ROWS + 1)) / 2
const KEY = 'the-key-of-the-odata-clients'
const NO_EXPAND = '$expand is not supported: the tables have no relations.'
const folder = mkdtempSync(join(tmpdir(), 'parquetry-clients-'))
const here = import.meta.dirname

const python = join(folder, 'python')
const maven = join(folder, 'olingo')
const typescript = join(folder, 'typescript')
const grids = join(folder, 'grids')
const filters = join(folder, 'filters.txt')
writeFileSync(filters, KINDS_FILTERS)

const ODATA_CLIENTS: readonly Client[] = [
  {
    name: 'python-odata',
    async install() {
      await run('python3', ['-m', 'venv', python], PATIENCE)
      await run(join(python, 'bin/pip'), ['install', '-q', 'python-odata==0.6.3'], PATIENCE)
    },
    read: (root) =>
      output(join(python, 'bin/python'), [
        join(here, 'python_odata.py'),
        root,
        KEY,
        'numbers',
        KINDS_FILTERS,
      ]),
    finds: [
      "sets ['kinds', 'numbers']",
      `rows ${ROWS} sum ${SUM}`,
      'filtered [100000, 99999]',
      'entity 17 17',
      'selected 100000',
      `expand HTTP 501 ${NO_EXPAND}`,
      ...KINDS_FOUND,
    ],
  },
  {
    name: 'Apache Olingo',
    async install() {
      mkdirSync(join(maven, 'src/main/java'), { recursive: true })
      for (const file of ['pom.xml', 'src/main/java/OlingoCheck.java']) {
        copyFileSync(join(here, 'olingo', file), join(maven, file))
      }
      await run('mvn', ['-q', '-B', 'compile'], { ...PATIENCE, cwd: maven })
    },
    read: (root) =>
      output('mvn', ['-q', '-B', 'exec:java', `-Dexec.args=${root} ${KEY} numbers ${filters}`], maven),
    finds: [
      'sets [kinds, numbers]',
      'key [Row]',
      'property n Int64',
      'property word String',
      `rows ${ROWS} pages 4 sum ${SUM}`,
      'filtered 99995 first 100000',
      'entity 17 17',
      `count ${ROWS}`,
      // From status 500 on, Olingo tells nothing of the answer but its status.
      'expand HTTP/1.1 501 Not Implemented',
      ...KINDS_FOUND,
    ],
  },
  {
    name: 'odata2ts',
    async install(root) {
      mkdirSync(typescript)
      writeFileSync(join(typescript, 'package.json'), '{"private":true}')
      writeFileSync(
        join(typescript, 'tsconfig.json'),
        '{"compilerOptions":{"target":"es2022","module":"commonjs"}}',
      )
      const packages = ['odata2ts@0.34.0', 'odata-service', 'odata-query-objects', 'http-client-fetch']
      const names = [...packages.map((name) => `@odata2ts/${name}`), 'typescript@5']
      await run('npm', ['install', '--no-audit', '--no-fund', ...names], { ...PATIENCE, cwd: typescript })
      const metadata = await fetch(`${root}$metadata`, { headers: { 'x-api-key': KEY } })
      writeFileSync(join(typescript, 'metadata.xml'), await metadata.text())
    },
    async read(root) {
      await output('npx', ['odata2ts', '-s', 'metadata.xml', '-o', 'out', '-m', 'all'], typescript)
      return output(process.execPath, [join(here, 'odata2ts.cjs'), typescript, root, KEY, KINDS_FILTERS])
    },
    finds: [
      'filtered 99995 100000 99999',
      'entity 17 17',
      'sets kinds numbers',
      `rows ${ROWS} sum ${SUM}`,
      'selected [{"n":100000}]',
      `expand 501 OData server responded with error: ${NO_EXPAND}`,
      ...KINDS_FOUND,
    ],
  },
  {
    name: 'the grids of Syncfusion and DevExtreme',
    async install() {
      mkdirSync(grids)
      writeFileSync(join(grids, 'package.json'), '{"private":true}')
      const packages = ['@syncfusion/ej2-data@34.2.8', 'devextreme@26.1.5', 'jsdom@29.1.1']
      await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], {
        ...PATIENCE,
        cwd: grids,
      })
    },
    read: (root) => output(process.execPath, [join(here, 'grids.cjs'), grids, root, KEY]),
    finds: [
      'syncfusion 99995 99997 99996 99995',
      'syncfusion search w1 w1',
      'devextreme 99995 99997 99996 99995',
      'devextreme entity 17',
    ],
  },
]

async function output(command: string, parameters: readonly string[], cwd = folder): Promise<string> {
  const { stdout } = await run(command, [...parameters], { ...PATIENCE, cwd })
  return stripVTControlCharacters(stdout)
}

/** Starts a server on a free port with one table in it; gives its address. */
async function serve(): Promise<{ address: string; stop: () => Promise<void> }> {
  const main = join(here, '../../server/bin.js')
  const server = spawn(
    process.execPath,
    [main, 'serve', '--port', '0', '--no-samples', '--data', join(folder, 'data')],
    {
      env: {
        ...process.env,
        PARQUETRY_ROOT_KEY: KEY,
        PARQUETRY_LOG_LEVEL: 'silent',
        PARQUETRY_INDEX_PROVIDERS: 'false',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  let greeting = ''
  for await (const chunk of server.stdout) {
    greeting += chunk
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(greeting)?.[0]
    if (address) {
      return {
        address,
        stop: () => {
          server.kill()
          return ended
        },
      }
    }
  }
  throw new Error(`The server ended before it served: ${greeting}`)
}

async function fill(address: string): Promise<void> {
  const call = async (method: string, path: string, type: string, body: string) => {
    const response = await fetch(address + path, {
      method,
      headers: { 'x-api-key': KEY, 'content-type': type },
      body,
    })
    if (!response.ok) throw new Error(await response.text())
  }
  await call('POST', '/repositories', 'application/json', '{"name":"tables"}')
  await call('POST', '/datasets', 'application/json', '{"name":"numbers","repositoryId":1}')
  const rows = Array.from({ length: ROWS }, (_, index) => `${index + 1},w${(index + 1) % 7}`)
  await call('PUT', '/datasets/1/data', 'text/csv', `n,word\n${rows.join('\n')}\n`)
  const kinds = { name: 'kinds', repositoryId: 1, columns: KINDS_COLUMNS }
  await call('POST', '/datasets', 'application/json', JSON.stringify(kinds))
  await call('PUT', '/datasets/2/data', 'text/csv', KINDS_CSV)
}

/** The line that names the error, or the last ones. */
function reason(error: unknown): string {
  const { stderr = '', stdout = '' } = error as { stderr?: string; stdout?: string }
  const said = [stderr, stdout].map((text) => stripVTControlCharacters(text).trim())
  const lines = (said.find((text) => text !== '') ?? String(error)).split('\n')
  return lines.find((line) => /^\S*(Error|Exception)\b.*:/.test(line)) ?? lines.slice(-3).join(' ')
}

const { address, stop } = await serve()
try {
  await fill(address)
  const root = `${address}/repositories/1/odata/`
  const only = process.argv[2]
  for (const { name, install, read, finds } of [
    ...ODATA_CLIENTS,
    ...generatedClients(folder, address, KEY),
    ...openapiGenerator(folder, address, KEY),
  ]) {
    if (only !== undefined && !name.includes(only)) continue
    try {
      await install(root)
    } catch (error) {
      console.log(`${name}: NOT RUN, it could not be installed: ${reason(error)}`)
      continue
    }
    try {
      const found = await read(root)
      const missing = finds.filter((line) => !found.split('\n').includes(line))
      console.log(
        missing.length === 0
          ? `${name}: passes`
          : `${name}: FAILS, missing ${missing.join('; ')} in\n${found}`,
      )
      if (missing.length > 0) process.exitCode = 1
    } catch (error) {
      console.log(`${name}: FAILS, ${reason(error)}`)
      process.exitCode = 1
    }
  }
} finally {
  await stop()
  rmSync(folder, { recursive: true, force: true })
}
