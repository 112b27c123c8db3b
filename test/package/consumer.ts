import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end. */
export function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Ran> {
  const { NODE_OPTIONS: _, VITEST: __, ...inherited } = process.env
  const child = spawn(program, args, { cwd: options.cwd, env: { ...inherited, ...options.env } })
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text))
  }
  return new Promise((done, failed) => {
    child.on('error', failed)
    child.on('close', (code) => done({ code, ...texts }))
  })
}

/** The same, but anything else than success is an error with all that was printed. */
export async function succeed(...call: Parameters<typeof run>): Promise<Ran> {
  const ran = await run(...call)
  if (ran.code === 0) return ran
  throw new Error(`${call[0]} ${call[1].join(' ')} ended with ${ran.code}\n${ran.stdout}\n${ran.stderr}`)
}

/** npm, run by the same Node as the tests. */
export function npm(args: readonly string[], cwd: string): Promise<Ran> {
  const path = `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`
  return succeed('npm', args, { cwd, env: { PATH: path, npm_config_update_notifier: 'false' } })
}

/** The package as it would be published. */
export interface Packed {
  readonly tarball: string
  readonly files: readonly string[]
  readonly size: number
  readonly unpackedSize: number
}

/** An empty project somewhere else, with the packed package installed in it as npm does it. */
export class Consumer {
  readonly folder = mkdtempSync(join(tmpdir(), 'parquetry-package-'))
  readonly project = join(this.folder, 'project')

  async pack(): Promise<Packed> {
    const { stdout } = await npm(['pack', '--json', '--pack-destination', this.folder], root)
    // What the build prints comes first.
    const [packed] = JSON.parse(stdout.slice(stdout.search(/^\[/m)))
    return {
      tarball: join(this.folder, packed.filename),
      files: packed.files.map((file: { path: string }) => file.path),
      size: packed.size,
      unpackedSize: packed.unpackedSize,
    }
  }

  async install(tarball: string): Promise<void> {
    mkdirSync(this.project)
    this.write('package.json', JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
    await npm(['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], this.project)
  }

  /** Puts a file into the project. */
  write(path: string, content: string | Uint8Array): void {
    const file = join(this.project, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }

  read(path: string): Buffer {
    return readFileSync(join(this.project, path))
  }

  /** Runs Node in the project. */
  node(node: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
    return succeed(node, args, { cwd: this.project, env })
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** The jobs of the guide, by name, as they stand there. */
export function guideJobs(): Record<string, string> {
  const guide = readFileSync(join(root, 'docs/library.md'), 'utf8')
  const jobs = guide.matchAll(/<!-- job: (\w+) -->\n```js\n([\s\S]*?)```/g)
  return Object.fromEntries([...jobs].map(([, name, code]) => [name!, code!]))
}

/** Runs the server alone and inside of another Fastify, and prints what both answer. */
export const SERVER = `
import Fastify from 'fastify'
import { openEngine } from 'parquetry'
import { Client } from 'parquetry/client'
import { openConnectors } from 'parquetry/connectors'
import { openServices, parquetry, readConfig, serve } from 'parquetry/server'

const key = 'a-key-for-these-tests'
const environment = { PARQUETRY_ROOT_KEY: key, PARQUETRY_LOG_LEVEL: 'silent' }
const names = async (url, key) =>
  (await new Client({ url, key }).repositories.list()).map(({ name }) => name)

const server = await serve(readConfig({ port: '0', data: process.argv[2] }, environment))
const client = new Client({ url: server.url, key })
const { id: repositoryId } = await client.repositories.create({ name: 'seen', private: false })
const { id } = await client.datasets.create({ name: 'rows', repositoryId })
await client.datasets.append(id, { format: 'csv', body: 'a\\n1\\n' })
const odata = (await (await fetch(server.url + '/odata/seen_rows?$select=a&apiKey=' + key)).json()).value
const alone = await names(server.url, key)
const console_ = (await fetch(server.url + '/console/')).status
const guide = (await fetch(server.url + '/guide/start.html')).status
const refused = await names(server.url, 'another').catch((error) => error.status)
await server.close()

const config = readConfig({ data: process.argv[2] }, environment)
const engine = await openEngine({ directory: config.data, role: 'server' })
const connectors = openConnectors()
const services = await openServices({ config, engine, connectors, version: '1' })
const app = Fastify()
app.get('/own', async () => 'own')
await app.register(parquetry(services), { prefix: '/tables' })
const url = await app.listen({ port: 0 })
const inside = await names(url + '/tables', (await services.accounts.create({ name: 'me', plan: 'free' })).key)
await app.close()
await Promise.all([connectors.close(), engine.close()])
console.log(JSON.stringify({ alone, inside, odata, console: console_, guide, refused }))
`
