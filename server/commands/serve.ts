import type { Config } from '../config/config.ts'
import { type Server, serve } from '../serve.ts'
import { loadSamples } from './samples.ts'

/** `parquetry serve`: runs until SIGINT or SIGTERM, then finishes the requests under way and exits. */
export async function serveUntilStopped(config: Config, options: { anew?: boolean } = {}): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve())
  })
  let sample: Awaited<ReturnType<typeof loadSamples>>
  const server = await serve(config, undefined, {
    ...options,
    prepare: async ({ engine, publish }) => {
      if (config.samples) sample = await loadSamples(engine, publish)
    },
  })
  console.log(greeting(server, sample))
  await stopped
  await server.close()
}

/** The text printed at start: the addresses, the root key, and requests to try. */
export function greeting(
  { url, newRootKey, rootKeyHolds, rootKeyHint, hasConsole }: Server,
  sample: { readonly weather: number; readonly penguins: number } | undefined,
): string {
  const lines = [`Parquetry serves on ${url}`, '']
  if (newRootKey !== undefined) lines.push(`  API key of root   ${newRootKey}   (shown this once)`)
  else if (rootKeyHolds) lines.push('  API key of root   the one in PARQUETRY_ROOT_KEY')
  else {
    lines.push(
      `  API key of root   the one that ends in ${rootKeyHint}, shown at the first start; \`parquetry key rotate root\` makes a new one`,
    )
  }
  if (hasConsole) lines.push(`  Console           ${url}/console/`)
  lines.push(`  Documentation     ${url}/docs`, '')
  if (sample) {
    const key = newRootKey ?? (rootKeyHolds ? '$PARQUETRY_ROOT_KEY' : 'API_KEY')
    const curl = `curl -u "${key}:"`
    const data = (id: number) => `${url}/datasets/${id}/data`
    lines.push(
      'Try:',
      `  ${curl} "${data(sample.weather)}"`,
      `  ${curl} -G "${data(sample.weather)}" --data-urlencode "\\$filter=weather eq 'snow' and temp_max lt 3" --data-urlencode "\\$top=5"`,
      `  ${curl} -G "${data(sample.penguins)}" --data-urlencode '$format=json' --data-urlencode '$filter="Body Mass (g)" gt 6000'`,
      '',
    )
  }
  return lines.join('\n')
}
