import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { run } from '../cluster/install-run.ts'
import { INSTALLED } from '../cluster/tools.ts'
import type { Recorded } from './record.ts'

/*
 * Records the statements that tests and benchmarks send to DuckDB, runs each in the version that we ship and in the next
 * one, both of PyPI, and says where types, values, order or errors differ: npm run test:next -- test/filter bench
 */

const VERSIONS = ['1.5.5', '2.0.1'] as const
/** What is run by default: what makes the SQL of queries, and what reads uploads. */
const RUN = [
  'test/filter',
  'test/apply',
  'test/differential',
  'test/plan',
  'test/engine',
  'test/sql',
  'test/ingest',
  'test/parquet',
  'test/odata',
  'test/versions',
  'test/duckdb',
  'bench',
]

interface Outcome {
  readonly types?: readonly string[]
  readonly count?: number
  readonly rows?: readonly string[]
  readonly hash?: string
  readonly sorted?: string
  readonly error?: string
}

const folder = mkdtempSync(join(tmpdir(), 'parquetry-next-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const statements = recorded(process.argv.slice(2))
const file = join(folder, 'statements')
writeFileSync(file, statements.map((one) => `${JSON.stringify(one)}\n`).join(''))
const [ours, next] = await Promise.all(VERSIONS.map((version) => replayed(version)))
const failing = statements.filter((_, at) => ours![at]!.error !== undefined && next![at]!.error !== undefined)
console.log(`${statements.length} statements, of which ${failing.length} fail in both versions`)
const differences = statements.flatMap((statement, at) => {
  const found = differenceOf(ours![at]!, next![at]!)
  // There are thousands of them, and none has the tree of the other version.
  const kind = found && statement.sql.includes('json_serialize_sql') ? 'trees of SQL' : found
  return kind === undefined ? [] : [{ kind, statement, ours: ours![at]!, next: next![at]! }]
})
for (const [kind, some] of Map.groupBy(differences, ({ kind }) => kind)) {
  console.log(`\n## ${kind}: ${some.length}`)
  for (const { statement, ours, next } of some.slice(0, Number(process.env['PARQUETRY_NEXT_SHOWN'] ?? 3))) {
    console.log(`${statement.sql}\n  ${JSON.stringify(statement.parameters)}`.slice(0, 2_000))
    const at = ours.rows?.findIndex((row, index) => row !== next.rows?.[index]) ?? 0
    for (const [index, { error, types, count, rows }] of [ours, next].entries()) {
      const shown = kind === 'types' ? types : `${count} rows, one is ${rows?.[at]}`
      console.log(`  ${VERSIONS[index]}: ${error ?? shown}`.slice(0, 500))
    }
  }
}
process.exitCode = differences.length > 0 ? 1 : 0

/** Runs tests, and with `bench` the benchmarks in small, which write down their statements. */
function recorded(given: readonly string[]): Recorded[] {
  const record = join(import.meta.dirname, 'record.ts')
  const settings = join(folder, 'config.json')
  // A machine that still works at what went before must not make a server of the benchmarks refuse requests.
  writeFileSync(settings, JSON.stringify({ shedding: { eventLoopDelay: 0 } }))
  const env = {
    ...process.env,
    PARQUETRY_RECORD: folder,
    PARQUETRY_CONFIG: settings,
    NODE_OPTIONS: `--import ${record}`,
    PARQUETRY_TESTS: 'service',
  }
  const config = join(import.meta.dirname, 'vitest.config.ts')
  const named = given.length > 0 ? given : RUN
  const tests = named.filter((one) => one !== 'bench')
  if (tests.length > 0)
    spawnSync('npx', ['vitest', 'run', '--config', config, ...tests], { env, stdio: 'inherit' })
  if (named.includes('bench')) spawnSync('node', ['bench/run.ts', '--quick'], { env, stdio: 'inherit' })
  const lines = globSync('*.ndjson', { cwd: folder }).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'),
  )
  return [...new Set(lines)].map((line) => JSON.parse(line) as Recorded)
}

/** Runs all statements in a version. One that makes the process end counts as an error of its own. */
async function replayed(version: string): Promise<Outcome[]> {
  const own = join(folder, version)
  mkdirSync(own)
  const outcomes: Outcome[] = []
  while (outcomes.length < statements.length) {
    const program = [join(import.meta.dirname, 'replay.py'), file, String(outcomes.length), own]
    const child = spawn(pythonOf(version), program, { stdio: ['ignore', 'pipe', 'inherit'] })
    for await (const line of createInterface(child.stdout)) outcomes.push(JSON.parse(line))
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    if (outcomes.length < statements.length)
      outcomes.push({ error: `ended: ${child.signalCode ?? child.exitCode}` })
  }
  return outcomes
}

/** A Python with that version of DuckDB, which is installed with the first run. */
function pythonOf(version: string): string {
  const venv = join(INSTALLED, `duckdb-${version}`)
  const python = join(venv, 'bin/python')
  if (!existsSync(python)) {
    const done =
      run('python3', '-m', 'venv', venv) &&
      run(join(venv, 'bin/pip'), 'install', '-q', `duckdb==${version}`, 'pytz')
    if (!done) process.exit(2)
  }
  return python
}

/** In what two outcomes differ; errors are not compared by their words. */
function differenceOf(ours: Outcome, next: Outcome): string | undefined {
  if (ours.error !== undefined || next.error !== undefined) {
    if (ours.error !== undefined && next.error !== undefined) return undefined
    return ours.error === undefined ? `error in ${VERSIONS[1]} alone` : `error in ${VERSIONS[0]} alone`
  }
  if (String(ours.types) !== String(next.types)) return 'types'
  if (ours.hash === next.hash) return undefined
  return ours.sorted === next.sorted ? 'order' : 'values'
}
