import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { type Client, PATIENCE, run } from './client.ts'

const here = join(import.meta.dirname, 'generator')
const VERSION = '7.25.0'
const CSV = 'n,t\n1,é\n2,\n'
const FLUENT = ['--additional-properties=useSingleRequestParameter=true']

interface Target {
  readonly language: string
  readonly parameters?: readonly string[]
  /** Fails where the toolchain is not there. */
  readonly toolchain: readonly [command: string, ...parameters: string[]]
  /** Compiles the client that was made in `folder`, and runs it with the arguments. */
  readonly use: (folder: string, parameters: readonly string[]) => Promise<string>
  readonly readsNoRows?: true
}

const TARGETS: readonly Target[] = [
  { language: 'python', toolchain: ['python3', '--version'], use: usePython },
  { language: 'java', parameters: FLUENT, toolchain: ['mvn', '--version'], use: useJava },
  { language: 'go', toolchain: ['go', 'version'], use: useGo },
  { language: 'typescript-fetch', toolchain: ['npm', '--version'], use: useTypescript },
  { language: 'rust', toolchain: ['cargo', '--version'], use: useRust, readsNoRows: true },
]

/** Clients that openapi-generator makes of our document: each is compiled, uploads a csv and reads rows. */
export function openapiGenerator(folder: string, address: string, key: string): readonly Client[] {
  const tools = join(folder, 'generator')
  const jar = join(tools, `openapi-generator-cli-${VERSION}.jar`)
  const csv = join(tools, 'rows.csv')
  return TARGETS.map(({ language, parameters = [], toolchain: [command, ...version], use, readsNoRows }) => {
    const made = join(tools, language, 'made')
    return {
      name: `openapi-generator ${language}`,
      async install() {
        await run(command, version, PATIENCE)
        mkdirSync(join(tools, language), { recursive: true })
        const artifact = `org.openapitools:openapi-generator-cli:${VERSION}`
        const options = [`-Dartifact=${artifact}`, `-DoutputDirectory=${tools}`]
        await run('mvn', ['-q', '-B', 'dependency:copy', ...options], { ...PATIENCE, cwd: tools })
        writeFileSync(csv, CSV)
      },
      async read() {
        const document = join(tools, language, 'openapi.json')
        writeFileSync(document, await (await fetch(`${address}/openapi.json`)).text())
        const where = ['-i', document, '-g', language, '-o', made]
        await run('java', ['-jar', jar, 'generate', ...where, ...parameters], PATIENCE)
        const output = await use(made, [address, key, `generated-${language}`, csv])
        return stripVTControlCharacters(output)
      },
      finds: ['uploaded 2', ...(readsNoRows ? [] : ['read n,t|2,|'])],
    }
  })
}

async function usePython(made: string, parameters: readonly string[]): Promise<string> {
  const venv = join(made, 'venv')
  await run('python3', ['-m', 'venv', venv], PATIENCE)
  await run(join(venv, 'bin/pip'), ['install', '-q', '-r', 'requirements.txt'], { ...PATIENCE, cwd: made })
  const env = { ...process.env, PYTHONPATH: made }
  const used = await run(join(venv, 'bin/python'), [join(here, 'use.py'), ...parameters], {
    ...PATIENCE,
    env,
  })
  return used.stdout
}

async function useJava(made: string, parameters: readonly string[]): Promise<string> {
  copyFileSync(join(here, 'Use.java'), join(made, 'src/main/java/org/openapitools/client/Use.java'))
  const execution = [
    '-Dexec.mainClass=org.openapitools.client.Use',
    `-Dexec.args=${parameters.join(' ')}`,
    'org.codehaus.mojo:exec-maven-plugin:3.5.0:java',
  ]
  return (await run('mvn', ['-q', '-B', 'compile', ...execution], { ...PATIENCE, cwd: made })).stdout
}

async function useGo(made: string, parameters: readonly string[]): Promise<string> {
  mkdirSync(join(made, 'use'))
  copyFileSync(join(here, 'use.go.txt'), join(made, 'use/main.go'))
  return (await run('go', ['run', './use', ...parameters], { ...PATIENCE, cwd: made })).stdout
}

async function useTypescript(made: string, parameters: readonly string[]): Promise<string> {
  const cwd = { ...PATIENCE, cwd: join(made, '..') }
  writeFileSync(join(cwd.cwd, 'package.json'), '{"private":true,"type":"module"}')
  copyFileSync(join(here, 'use.ts.txt'), join(cwd.cwd, 'use.ts'))
  await run(
    'npm',
    ['install', '--no-audit', '--no-fund', 'typescript@5', '@types/node@24', 'esbuild@0.25'],
    cwd,
  )
  const strict = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'esnext']
  await run('npx', ['tsc', ...strict, '--moduleResolution', 'bundler', '--types', 'node', 'use.ts'], cwd)
  await run(
    'npx',
    ['esbuild', 'use.ts', '--bundle', '--platform=node', '--format=esm', '--outfile=use.mjs'],
    cwd,
  )
  return (await run(process.execPath, ['use.mjs', ...parameters], cwd)).stdout
}

async function useRust(made: string, parameters: readonly string[]): Promise<string> {
  const api = readFileSync(join(made, 'src/apis/data_api.rs'), 'utf8')
  const [, all = ''] = /fn replace_data\((.*)\) ->/.exec(api) ?? []
  const options = all.match(/Option</g)?.map(() => 'None') ?? []
  const text = readFileSync(join(here, 'use.rs.txt'), 'utf8')
  mkdirSync(join(made, 'examples'))
  writeFileSync(join(made, 'examples/use.rs'), text.replace('{options}', options.join(', ')))
  const command = ['run', '-q', '--example', 'use', '--', ...parameters]
  return (await run('cargo', command, { ...PATIENCE, cwd: made })).stdout
}
