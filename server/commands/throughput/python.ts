import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { UsageError } from '../usage.ts'
import { type Rival, type Spread, spread } from './measure.ts'

const run = promisify(execFile)

/** What each library needs to read Parquet and to write our formats. */
const PACKAGES = { pandas: ['pandas', 'pyarrow', 'xlsxwriter'], polars: ['polars', 'xlsxwriter'] } as const
export type Library = Exclude<Rival, 'copy'>

/** Reads a Parquet file and writes it, again and again, and prints the seconds of each time but the first. */
const PROGRAM = `
import json, sys, time
library, file, target, format, seconds = sys.argv[1:]
if library == 'pandas':
    import pandas
    read = pandas.read_parquet
    writers = {
        'csv': lambda t: t.to_csv(target, index=False),
        'tsv': lambda t: t.to_csv(target, index=False, sep='\t'),
        'json': lambda t: t.to_json(target, orient='records', date_format='iso'),
        'ndjson': lambda t: t.to_json(target, orient='records', date_format='iso', lines=True),
        'xlsx': lambda t: t.to_excel(target, index=False, engine='xlsxwriter'),
        'parquet': lambda t: t.to_parquet(target),
        'arrow': lambda t: t.to_feather(target),
    }
else:
    import polars
    read = polars.read_parquet
    writers = {
        'csv': lambda t: t.write_csv(target),
        'tsv': lambda t: t.write_csv(target, separator='\t'),
        'json': lambda t: t.write_json(target),
        'ndjson': lambda t: t.write_ndjson(target),
        'xlsx': lambda t: t.write_excel(target),
        'parquet': lambda t: t.write_parquet(target),
        'arrow': lambda t: t.write_ipc(target),
    }
write = writers[format]
write(read(file))
times = []
end = time.perf_counter() + float(seconds)
while len(times) < 3 or time.perf_counter() < end:
    start = time.perf_counter()
    write(read(file))
    times.append(time.perf_counter() - start)
print(json.dumps(times))
`

/**
 * A Python that has the libraries: the one that is named, `python3`, or one of an environment of its own, into which they
 * are installed. Undefined without libraries.
 * @throws UsageError if none has them
 */
export async function pythonWith(
  libraries: readonly Library[],
  given: string | undefined,
): Promise<string | undefined> {
  if (libraries.length === 0) return undefined
  const packages = [...new Set(libraries.flatMap((library) => PACKAGES[library]))]
  const lacks = async (python: string) =>
    run(python, ['-c', `import ${packages.join(', ')}`]).then(
      () => undefined,
      (error: { stderr?: string; message: string }) => lastLine(error),
    )
  const problem = await lacks(given ?? 'python3')
  if (problem === undefined) return given ?? 'python3'
  if (given !== undefined)
    throw new UsageError(`--python: ${given} lacks one of ${packages.join(', ')}: ${problem}`)
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'parquetry', 'python')
  const python = join(folder, 'bin', 'python')
  if ((await lacks(python)) === undefined) return python
  console.log(`Installing ${packages.join(', ')} into ${folder}.`)
  try {
    mkdirSync(folder, { recursive: true })
    await run('python3', ['-m', 'venv', folder])
    await run(python, ['-m', 'pip', 'install', '--quiet', '--only-binary', ':all:', ...packages])
  } catch (error) {
    throw new UsageError(
      `--beside: ${packages.join(', ')} could not be installed: ${lastLine(error as Error)} Name a Python that has them with --python.`,
    )
  }
  return python
}

function lastLine({ stderr, message }: { readonly stderr?: string; readonly message: string }): string {
  return (stderr || message).trim().split('\n').at(-1)!
}

/** Rows per second with which a library reads a Parquet file and writes it in another format to a file; undefined if it can't. */
export async function measurePython(
  library: Library,
  python: string,
  file: string,
  how: { readonly format: string; readonly seconds: number; readonly rows: number },
): Promise<Spread | undefined> {
  const { format, seconds, rows } = how
  const target = join(file, '..', `copy.${format}`)
  try {
    const { stdout } = await run(python, ['-c', PROGRAM, library, file, target, format, String(seconds)])
    return spread((JSON.parse(stdout) as number[]).map((time) => rows / time))
  } catch (error) {
    console.log(`${library} does not write this table as ${format}: ${lastLine(error as Error)}`)
    return undefined
  }
}
