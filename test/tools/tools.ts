import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { promisify } from 'node:util'
import { FORMATS, type Format } from '../../engine/index.ts'
import type { Cell } from './judge.ts'
import { TRIED, type Tried } from './values.ts'

const run = promisify(execFile)
const programs = join(import.meta.dirname, 'programs')

/** Something that a tool is to do: read our file, or write one of its own for us. */
export interface Task {
  readonly way: 'download' | 'upload'
  readonly format: Format
  readonly path: string
  readonly tried: Tried
  /** The values in our own workbook. */
  readonly workbook: string
}

/** What came of a task: the cells that were read; nothing of a file that was written; or why not. */
export type Outcome =
  | { readonly cells: readonly Cell[] }
  | { readonly error: string }
  | { readonly none: true }
  | Record<string, never>

export interface Tool {
  readonly name: string
  /** Says its version; fails where it is not on this machine. */
  version(): Promise<string>
  /** Does tasks; their outcomes stand in the same order. Without it, the tool only carries files from and to us. */
  work?(tasks: readonly Task[]): Promise<readonly Outcome[]>
  readonly carrier?: Carrier
  /** It reads Arrow with `$encoding=plain`. */
  readonly plain?: boolean
}

/** What carries files: ours out, and others in. */
export interface Carrier {
  fetch(url: string, key: string, path: string): Promise<void>
  /** Gives the body of the answer, which is JSON. */
  send(url: string, key: string, path: string, type: string): Promise<string>
}

/** Another Python than the one on the path, as one of a virtual environment that has pandas. */
export const python = process.env['PARQUETRY_PYTHON'] ?? 'python3'

export const TOOLS: readonly Tool[] = [
  ...['pandas', 'polars', 'pyarrow', 'duckdb', 'chdb', 'openpyxl', 'fastexcel', 'pyspark'].map(pythonTool),
  {
    name: 'excelize',
    async version() {
      const args = ['-C', join(programs, 'excelize'), 'list', '-m', '-f', '{{.Version}}']
      return (await run('go', [...args, 'github.com/xuri/excelize/v2'])).stdout.trim().slice(1)
    },
    async work(tasks) {
      return outcomes(
        await piped('go', ['-C', join(programs, 'excelize'), 'run', '.'], JSON.stringify(tasks)),
      )
    },
  },
  nodeTool('DuckDB 1.5', 'duckdb-node.ts', '@duckdb/node-api'),
  nodeTool('apache-arrow', 'apache-arrow.ts', 'apache-arrow'),
  nodeTool('hyparquet', 'hyparquet.ts', 'hyparquet'),
  { ...nodeTool('Perspective', 'perspective.ts', '@perspective-dev/client'), plain: true },
  {
    name: 'R',
    version: async () => (await run('Rscript', ['-e', 'cat(as.character(getRversion()))'])).stdout.trim(),
    async work(tasks) {
      const encoded = (value: string | null) => (value === null ? '-' : `=${encodeURIComponent(value)}`)
      const lines = tasks.map(({ way, format, path, tried }) =>
        [way, format, path, tried.type, tried.values.map(encoded).join('|')].join('\t'),
      )
      const script = join(programs, 'base.R')
      return outcomes(await piped('Rscript', ['--encoding=UTF-8', script], `${lines.join('\n')}\n`))
    },
  },
  libreOffice(),
  curl(),
]

function pythonTool(name: string): Tool {
  return {
    name,
    async version() {
      const code = `import ${name}; print(${name}.__version__)`
      return (await run(python, ['-c', code])).stdout.trim()
    },
    async work(tasks) {
      const asked = tasks.map(({ tried, ...task }) => ({ ...task, type: tried.type, values: tried.values }))
      return outcomes(await piped(python, [join(programs, `${name}_tool.py`)], JSON.stringify(asked)))
    },
  }
}

/** Another folder with packages of npm than ours, as one that has hyparquet and hyparquet-compressors. */
const packages = process.env['PARQUETRY_PACKAGES'] ?? process.cwd()

function nodeTool(name: string, program: string, of: string): Tool {
  return {
    name,
    async version() {
      const file = [packages, process.cwd()].map((folder) => join(folder, 'node_modules', of, 'package.json'))
      return JSON.parse(readFileSync(file.find(existsSync)!, 'utf8')).version
    },
    async work(tasks) {
      return outcomes(
        await piped(process.execPath, [join(programs, program), packages], JSON.stringify(tasks)),
      )
    },
  }
}

const outcomes = (lines: string) =>
  lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Outcome)

function piped(command: string, args: readonly string[], input: string): Promise<string> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text))
  }
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0 ? resolve(texts.stdout) : reject(new Error(`${command} ${args.join(' ')}: ${texts.stderr}`)),
    )
  })
}

/**
 * LibreOffice reads csv and xlsx, and is seen through what it saves: what a cell shows is what it holds for its user.
 * For uploads it opens our workbook and saves it.
 */
function libreOffice(): Tool {
  const CSV = 'Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false'
  const options = ['--headless', '--norestore', '--nolockcheck']
  /** Each file becomes one of the same name in another folder. */
  const convert = async (files: readonly string[], to: string, folder: string) => {
    const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`
    const given = [profile, ...options, `--infilter=${CSV}`, '--convert-to', to, '--outdir', folder, ...files]
    await run(
      'soffice',
      given.filter((one) => !one.startsWith('--infilter') || files[0]?.endsWith('csv')),
      {
        timeout: 300_000,
      },
    )
  }
  return {
    name: 'LibreOffice',
    version: async () => (await run('soffice', ['--version'])).stdout.split(' ')[1]!,
    async work(tasks) {
      const known = tasks.filter(({ format }) => format === 'csv' || format === 'xlsx')
      if (known.length === 0) return tasks.map(() => ({ none: true }) as const)
      const folder = join(dirname(known[0]!.path), 'office')
      mkdirSync(folder, { recursive: true })
      const failed = new Map<Task, string>()
      for (const format of ['csv', 'xlsx'] as const) {
        const read = known.filter((task) => task.way === 'download' && task.format === format)
        if (read.length > 0)
          await convert(
            read.map(({ path }) => path),
            `csv:${CSV}`,
            join(folder, format),
          )
        const written = known.filter((task) => task.way === 'upload' && task.format === format)
        const ours = written.map(({ workbook }) => workbook)
        if (ours.length > 0)
          await convert(ours, format === 'csv' ? `csv:${CSV}` : 'xlsx', join(folder, `to-${format}`))
        for (const [index, task] of written.entries()) {
          try {
            renameSync(
              join(folder, `to-${format}`, basename(ours[index]!, '.xlsx') + extname(task.path)),
              task.path,
            )
          } catch (error) {
            failed.set(task, String(error))
          }
        }
      }
      return tasks.map((task): Outcome => {
        if (task.format !== 'csv' && task.format !== 'xlsx') return { none: true }
        if (task.way === 'upload') return failed.has(task) ? { error: failed.get(task)! } : {}
        const shown = join(folder, task.format, `${basename(task.path, extname(task.path))}.csv`)
        return { cells: cellsOf(readFileSync(shown, 'utf8')) }
      })
    },
  }
}

/** The second column of a csv, without its header; an empty field is null. */
function cellsOf(csv: string): Cell[] {
  const rows = [...csv.matchAll(/^[^,\n]*,(?:"((?:[^"]|"")*)"|([^\n]*))\n/gm)].slice(1)
  return rows.map(([, quoted, plain]) => {
    const text = quoted?.replaceAll('""', '"') ?? plain!
    return text === '' && quoted === undefined ? ['null', null] : ['str', text]
  })
}

/** curl carries our own files out and in again, so that its uploads show what goes in as it came out. */
function curl(): Tool {
  const call = async (key: string, ...args: string[]) =>
    (await run('curl', ['-sS', '-u', `${key}:`, ...args])).stdout
  return {
    name: 'curl',
    version: async () => (await run('curl', ['--version'])).stdout.split(' ')[1]!,
    carrier: {
      fetch: async (url, key, path) => {
        await call(key, '-f', '-o', path, url)
      },
      send: (url, key, path, type) =>
        call(key, '-X', 'PUT', '-H', `Content-Type: ${type}`, '--data-binary', `@${path}`, url),
    },
  }
}

/** All there is to do with a tool: each type in each format, both ways. */
export function tasksIn(folder: string): Task[] {
  return FORMATS.flatMap((format) =>
    TRIED.flatMap((tried, index) =>
      (['download', 'upload'] as const).map((way) => ({
        way,
        format,
        tried,
        path: join(folder, `${way}-${index}.${format}`),
        workbook: join(folder, `download-${index}.xlsx`),
      })),
    ),
  )
}
