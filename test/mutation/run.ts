import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { run } from '../cluster/install-run.ts'
import { INSTALLED } from '../cluster/tools.ts'
import { Random } from '../filter/support/random.ts'
import { testsOf } from './areas.ts'

/*
 * Changes the code in one place after the other, runs the tests of its area each time, and says which changes they let
 * through. It works on a copy of the sources.
 */

/** It brings 120 packages, which nothing else needs, so they are installed with the first run and not by `npm ci`. */
const VERSION = '10.1.1'
const FOLDER = join(INSTALLED, 'stryker')
const PACKAGES = join(FOLDER, 'node_modules/@stryker-mutator')
/** Lines that are chosen together. */
const PIECE = 10
const ROOT = resolve(import.meta.dirname, '../..')

const USAGE = `usage: npm run test:mutation -- PATH… [--tests test/filter,test/apply] [--lines 200] [--seed 1] [--children]

  PATH        a file, some of its lines (engine/filter/sql/narrow.ts:70-90), or a folder
  --tests     folders or files of tests; by default those of the table in CONTRIBUTING.md
  --lines     changes only about so many lines, in pieces of ten that are chosen at random
  --seed      chooses the same pieces again
  --children  what is changed runs in processes that tests start, as uploads do: all tests run for each change`

function usage(complaint: string): never {
  console.error(`${complaint}\n${USAGE}`)
  process.exit(2)
}

function read() {
  try {
    const string = { type: 'string' } as const
    const options = { tests: string, lines: string, seed: string, children: { type: 'boolean' } } as const
    return parseArgs({ allowPositionals: true, options })
  } catch (error) {
    return usage((error as Error).message)
  }
}

const { positionals, values } = read()
if (positionals.length === 0) usage('No file or folder is named.')
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
const lines = values.lines === undefined ? undefined : Number(values.lines)
if (!Number.isSafeInteger(seed) || (lines !== undefined && !(lines > 0)))
  usage('--lines and --seed are whole numbers.')

const files = positionals.flatMap(filesAt)
const tests = (values.tests?.split(',') ?? [...new Set(positionals.flatMap((path) => testsOf(path)))]).map(
  (path) => (path.endsWith('.ts') ? path : `${path}/**/*.test.ts`),
)
if (tests.length === 0) usage('No tests belong to these files; name them with --tests.')
const mutate = lines === undefined ? files : pieces(files, lines, new Random(seed))

if (!existsSync(join(PACKAGES, 'vitest-runner'))) {
  const quietly = [
    '--silent',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--no-save',
    '--legacy-peer-deps',
  ]
  const packages = ['core', 'vitest-runner'].map((name) => `@stryker-mutator/${name}@${VERSION}`)
  if (!run('npm', 'install', ...quietly, '--prefix', FOLDER, ...packages)) process.exit(1)
}
// The configuration of the tests looks for it.
process.env['PARQUETRY_MUTATION'] = values.children ? 'children' : 'true'
const copy = mkdtempSync(join(tmpdir(), 'parquetry-mutation-'))
try {
  const { Stryker } = (await import(join(PACKAGES, 'core/dist/src/index.js'))) as {
    Stryker: new (options: object) => { runMutationTest(): Promise<readonly { readonly status: string }[]> }
  }
  const mutants = await new Stryker({
    mutate,
    testFiles: tests,
    testRunner: 'vitest',
    plugins: [join(PACKAGES, 'vitest-runner/dist/src/index.js')],
    vitest: { configFile: 'test/vitest.config.ts', related: false, pool: 'forks' },
    // It would read it with a TypeScript that has an interface for programs, which version 7 lacks.
    tsconfigFile: 'none',
    tempDirName: copy,
    ignorePatterns: ['/data/*', '!/data/samples', '/dist'],
    // What runs once when a file is loaded would need all tests again, each time.
    ignoreStatic: !values.children,
    concurrency: Math.max(1, availableParallelism() >> 1),
    timeoutMS: 20_000,
    dryRunTimeoutMinutes: 30,
    // Only the process of the tests tells which of them reach a change.
    coverageAnalysis: values.children ? 'off' : 'perTest',
    reporters: [process.stdout.isTTY ? 'progress' : 'progress-append-only', 'clear-text'],
    clearTextReporter: { allowColor: process.stdout.isTTY, logTests: false, reportTests: false },
    thresholds: { high: 90, low: 80, break: null },
  }).runMutationTest()
  const count = (...statuses: string[]) => mutants.filter(({ status }) => statuses.includes(status)).length
  // An error outside of tests is that of a hook, such as the start of a server.
  const noticed = count('Killed', 'Timeout', 'RuntimeError')
  const all = noticed + count('Survived', 'NoCoverage')
  console.log(
    `${noticed} of ${all} changes were noticed (${Math.round((100 * noticed) / all)} %); seed ${seed}`,
  )
} finally {
  rmSync(copy, { recursive: true, force: true })
}

/** The source files at a path, relative to the repository; a range of lines stays with its file. */
function filesAt(path: string): string[] {
  const relative = path.replace(/\/+$/, '')
  if (/\.ts(:|$)/.test(relative)) {
    if (!existsSync(join(ROOT, relative.split(':')[0]!))) usage(`There is no file ${relative}.`)
    return [relative]
  }
  const found = globSync(`${relative}/**/*.ts`, { cwd: ROOT }).filter(
    (file) => !/^server\/console\/|\.d\.ts$/.test(file),
  )
  if (found.length === 0) usage(`There are no sources in ${relative}.`)
  return found.toSorted()
}

/** Pieces of files, so that every line has the same chance. */
function pieces(all: readonly string[], most: number, random: Random): string[] {
  const found = all.flatMap((file) => {
    if (file.includes(':')) return [file]
    const length = readFileSync(join(ROOT, file), 'utf8').split('\n').length
    const starts = Array.from({ length: Math.ceil(length / PIECE) }, (_, index) => 1 + index * PIECE)
    return starts.map((start) => `${file}:${start}-${Math.min(length, start + PIECE - 1)}`)
  })
  const chosen: string[] = []
  while (chosen.length * PIECE < most && found.length > 0) {
    chosen.push(...found.splice(random.below(found.length), 1))
  }
  return chosen
}
