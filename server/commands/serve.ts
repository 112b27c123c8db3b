import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import type { Engine } from '../../engine/index.ts'
import { readConfig, unknownVariables } from '../config/read.ts'
import type { Config } from '../config/schema.ts'
import { guardProcess } from '../guards/uncaught.ts'
import { LogOutput } from '../logger.ts'
import { type ServeOptions, type Server, serve } from '../serve.ts'
import { PACKAGE } from '../version.ts'
import { UsageError } from './usage.ts'
import type { Target } from './workplace.ts'

interface Given {
  readonly port?: string
  readonly host?: string
  readonly samples: boolean
  readonly new?: boolean
  readonly takeOver?: boolean
}

export function addServeCommand(program: Command, target: Target): void {
  program
    .command('serve')
    .description('serve the HTTP API')
    .option('--port <number>', 'port; 0 takes a free one (PARQUETRY_PORT)')
    .option('--host <address>', 'address to listen on (PARQUETRY_HOST)')
    .option('--no-samples', 'start empty')
    .option('--new', 'start empty if the catalog is lost or damaged; existing files are moved aside')
    .option(
      '--take-over',
      'make this database the owner of the store, in place of the one of which it is a copy or a replica',
    )
    .addHelpText(
      'after',
      '\ndocs/operate.md has all settings: variables, and a JSON file that PARQUETRY_CONFIG names.',
    )
    .action(({ port, host, samples, new: anew, takeOver }: Given) => {
      // Without the option, Commander reports true; then the configuration decides.
      for (const problem of unknownVariables()) console.error(`parquetry: ${problem}`)
      const config = readConfig({ port, host, ...target.storage, samples: samples ? undefined : false })
      return serveUntilStopped(config, { anew, takeOver })
    })
}

/** `parquetry demo`. It reads no settings, so that it can't touch anybody's data. */
export function addDemoCommand(program: Command, target: Target): void {
  program
    .command('demo')
    .description('try everything on sample data in a temporary directory, which is removed at the end')
    .option('--port <number>', 'port; by default a free one', '0')
    .action(async ({ port }: Pick<Given, 'port'>) => {
      if (Object.keys(target.storage).length > 0) {
        throw new UsageError(
          'demo has a directory of its own: it takes no --data, --database, --store or --key.',
        )
      }
      // A terminal that is closed ends the demo, too.
      process.once('SIGHUP', () => process.kill(process.pid, 'SIGTERM'))
      const data = mkdtempSync(join(tmpdir(), 'parquetry-demo-'))
      try {
        const config = readConfig({ port, data }, { PARQUETRY_LOG_LEVEL: 'warn' })
        await serveUntilStopped(config, { demo: true })
      } finally {
        rmSync(data, { recursive: true, force: true })
      }
    })
}

/** Serves until SIGINT or SIGTERM, then finishes the requests under way and exits. */
async function serveUntilStopped(
  config: Config,
  { demo, ...options }: Pick<ServeOptions, 'anew' | 'takeOver'> & { readonly demo?: boolean },
): Promise<void> {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop())
  let sample: Awaited<ReturnType<typeof loadSamples>>
  const log = LogOutput.get()
  const server = await serve(config, log, {
    ...options,
    demo,
    index: config.indexProviders && !demo,
    prepare: async ({ engine, publish }) => {
      if (config.samples) sample = await loadSamples(engine, publish)
    },
  })
  let failed = false
  using _ = guardProcess(server.log, () => {
    failed = true
    stop()
  })
  // The greeting is to be read, so it comes last.
  log.flush()
  console.log(greeting(server, sample, demo))
  await stopped
  await server.close()
  if (failed)
    throw new Error('The server has ended because work outside of a request failed; its log says why.')
}

/**
 * The text printed at start: the addresses, the root key, and requests to try. In a demo the console's address holds the
 * key and signs in.
 */
export function greeting(
  { url, newRootKey, rootKeyHolds, rootKeyHint, hasConsole, hasGuide }: Server,
  sample: { readonly weather: number; readonly penguins: number } | undefined,
  demo = false,
): string {
  const lines = [`Parquetry is running at ${url}`, '']
  if (newRootKey !== undefined) lines.push(`  API key of root   ${newRootKey}   (shown this once)`)
  else if (rootKeyHolds) lines.push('  API key of root   the one in PARQUETRY_ROOT_KEY')
  else {
    lines.push(
      `  API key of root   the one that ends in ${rootKeyHint}, shown at the first start; \`parquetry key rotate root\` makes a new one`,
    )
  }
  if (hasConsole) lines.push(`  Console           ${url}/console/${demo ? `#key=${newRootKey}` : ''}`)
  if (hasGuide) lines.push(`  Guide             ${url}/guide/`)
  lines.push(`  Reference         ${url}/docs`, '')
  if (sample) {
    const key = newRootKey ?? (rootKeyHolds ? '$PARQUETRY_ROOT_KEY' : 'API_KEY')
    const curl = `curl -u "${key}:"`
    const data = (id: number) => `${url}/datasets/${id}/data`
    lines.push(
      'Try:',
      `  ${curl} "${data(sample.weather)}?\\$top=5"`,
      `  ${curl} -G "${data(sample.weather)}" --data-urlencode "\\$filter=weather eq 'snow' and temp_max lt 3" --data-urlencode "\\$top=5"`,
      `  ${curl} -G "${data(sample.penguins)}" --data-urlencode '$format=json' --data-urlencode '$filter="Body Mass (g)" gt 6000'`,
      '',
    )
  }
  if (demo) lines.push('This is a demo. Ctrl-C ends it and removes everything that it holds.', '')
  return lines.join('\n')
}

const HERE = 'http://127.0.0.1:8080'

/**
 * `parquetry mcp`: serves the agents' tools over standard input and output. They call a running server with the
 * account's own key. Standard output carries the protocol, so everything else is printed to standard error.
 */
export function addMcpCommand(program: Command, target: Target): void {
  program
    .command('mcp')
    .description(`serve the Model Context Protocol over stdio, for agents; uses --server (default: ${HERE})`)
    .action(async () => {
      const server = target.server(HERE)!
      // Loaded only when needed: no other command uses the protocol.
      const [{ StdioServerTransport }, { mcpServer }, { Client }] = await Promise.all([
        import('@modelcontextprotocol/sdk/server/stdio.js'),
        import('../mcp/server.ts'),
        import('../client/index.ts'),
      ])
      const client = new Client(server)
      // Makes a wrong key or address fail now rather than at the first tool call.
      await client.account.get()
      const ended = new Promise<void>((resolve) => process.stdin.once('end', resolve))
      const served = mcpServer(client, true)
      await served.connect(new StdioServerTransport())
      await ended
      await served.close()
    })
}

const SAMPLES = {
  'us-employment': 'Monthly employment in the United States, in thousands (Bureau of Labor Statistics)',
  'seattle-weather': 'Daily weather in Seattle, 2012 to 2015 (NOAA)',
  penguins: 'Measurements of penguins near Palmer Station, Antarctica (CC0)',
} as const

const REPOSITORY = 'samples'

/**
 * Loads the sample data into a data directory that never had a repository. Returns the ids of two sample datasets, if
 * they exist.
 */
export async function loadSamples(
  engine: Engine,
  share: (repositoryId: number) => Promise<void>,
): Promise<{ weather: number; penguins: number } | undefined> {
  const repositoryId = existsSync(fileOf('penguins')) ? await makeRepository(engine) : undefined
  if (repositoryId !== undefined) {
    await share(repositoryId)
    for (const [name, description] of Object.entries(SAMPLES)) {
      const { id } = await engine.createDataset({ repositoryId, name, description })
      const dataset = await engine.dataset(id)
      await dataset.replace({ body: { file: fileOf(name) }, format: 'csv' })
    }
  }
  const datasets = await engine.datasets()
  const weather = datasets.find((one) => one.name === 'seattle-weather')?.id
  const penguins = datasets.find((one) => one.name === 'penguins')?.id
  return weather === undefined || penguins === undefined ? undefined : { weather, penguins }
}

/** Makes the repository, unless there was one before; of several nodes that start at once, one makes it. */
async function makeRepository(engine: Engine): Promise<number | undefined> {
  if (!(await neverHeldAnything(engine))) return undefined
  return engine.transaction(async (t) => {
    await t.lockName('samples')
    if (!(await neverHeldAnything(engine))) return undefined
    const fields = { name: REPOSITORY, description: 'Small tables to try things on' }
    return (await engine.createRepository(fields, t)).id
  })
}

/** Ids are never reused, so the newest one shows whether there ever was a repository. */
async function neverHeldAnything(engine: Engine): Promise<boolean> {
  return (await engine.database.newestId('repositories')) === 0
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(`data/samples/${name}.csv`, PACKAGE))
}
