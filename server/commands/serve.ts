import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { readConfig, unknownVariables } from '../config/read.ts'
import type { Config } from '../config/schema.ts'
import { LogOutput } from '../logger.ts'
import { type ServeOptions, type Server, serve } from '../serve.ts'
import { loadSamples } from './samples.ts'
import { UsageError } from './usage.ts'
import type { Target } from './workplace.ts'

interface Given {
  readonly port?: string
  readonly host?: string
  readonly samples: boolean
  readonly new?: boolean
  readonly takeOver?: boolean
}

/** `parquetry serve`. */
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
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve())
  })
  let sample: Awaited<ReturnType<typeof loadSamples>>
  const log = LogOutput.get()
  const server = await serve(config, log, {
    ...options,
    index: config.indexProviders && !demo,
    prepare: async ({ engine, publish }) => {
      if (config.samples) sample = await loadSamples(engine, publish)
    },
  })
  // The greeting is to be read, so it comes last.
  log.flush()
  console.log(greeting(server, sample, demo))
  await stopped
  await server.close()
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
