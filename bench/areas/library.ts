import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openEngine } from '../../engine/index.ts'
import { type BenchOptions, type Case, median } from '../case.ts'

const root = resolve(import.meta.dirname, '../..')

/**
 * The time a batch job takes from the import to its first row. The code is built as for the package, and each run is a
 * process of its own.
 */
export async function* measure({ quick }: BenchOptions): AsyncGenerator<Case> {
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-bench-library-'))
  try {
    build(folder)
    const parts = await sampleParts(join(folder, 'data'))
    const ours = script(folder, 'ours.mjs', OURS, join(folder, 'data'))
    const rival = script(folder, 'rival.mjs', RIVAL, parts)
    const mine: number[] = []
    const other: number[] = []
    for (let run = 0; run < (quick ? 5 : 15); run++) {
      mine.push(ours())
      other.push(rival())
    }
    yield {
      name: 'library: import to first row, 1,461 rows',
      value: median(mine),
      unit: 'ms',
      rival: '@duckdb/node-api on the same Parquet',
      rivalValue: median(other),
      ratio: median(mine) / median(other),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const OURS = `
const { openEngine } = await import('parquetry')
const engine = await openEngine({ directory: process.argv[2] })
using query = await (await engine.dataset(1)).query()
for await (const row of query.rows()) if (row) break
report()
await engine.close()`

const RIVAL = `
const { DuckDBInstance } = await import('@duckdb/node-api')
const connection = await (await DuckDBInstance.create(':memory:')).connect()
const reader = await connection.streamAndReadUntil("FROM '" + process.argv[2] + "/*.parquet'", 1)
if (reader.getRowObjectsJS()[0]) report()`

/** Writes a script that reports the time since its start. Returns a function that runs the script. */
function script(folder: string, name: string, body: string, argument: string): () => number {
  const file = join(folder, name)
  writeFileSync(
    file,
    `const report = () => console.log(performance.now() - start)\nconst start = performance.now()${body}\n`,
  )
  return () => {
    const { stdout, stderr } = spawnSync(process.execPath, [file, argument], { encoding: 'utf8' })
    if (stdout === '') throw new Error(stderr)
    return Number(stdout)
  }
}

function build(folder: string): void {
  const options = ['-p', '.tsconfig.build.json', '--outDir', join(folder, 'dist'), '--declaration', 'false']
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...options, '--declarationMap', 'false'], {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stdout)
  // Imports of the package by its own name need its package.json.
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
}

/** Makes a data directory with a small dataset. Returns the folder of the dataset's parts. */
async function sampleParts(directory: string): Promise<string> {
  mkdirSync(directory)
  await using engine = await openEngine({ directory })
  const { id: repositoryId } = await engine.createRepository({ name: 'samples' })
  const { id } = await engine.createDataset({ repositoryId, name: 'weather' })
  const file = join(root, 'data/samples/seattle-weather.csv')
  await (await engine.dataset(id)).replace({ format: 'csv', body: { file } })
  return join(directory, 'parts')
}
