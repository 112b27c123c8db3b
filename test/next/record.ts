import { createHash } from 'node:crypto'
import { appendFileSync, copyFileSync, existsSync, linkSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { Duck } from '../../engine/duckdb/duck.ts'
import { DuckDb } from '../../engine/duckdb/native/ffi.ts'

/*
 * Writes down each distinct statement that this process sends to DuckDB, before DuckDB runs it: a line of JSON with its
 * parameters, and a link to each file that it reads, because parts are removed while tests go on. It is loaded into the
 * tests, and into the processes that they start.
 */

/** A statement as it is run again. */
export interface Recorded {
  readonly sql: string
  readonly parameters: readonly string[]
  /** Whether it runs with the optimizer's rules that uploads have to do without. */
  readonly isUpload: boolean
}

/** Where statements and files go. */
const folder = process.env['PARQUETRY_RECORD']!
/** Larger files say nothing that small ones don't. */
const MOST_BYTES = 16 << 20
const PATHS = /'((?:[^']|'')*\/(?:[^']|'')*)'/g
/** What gives other values each time, and plans, which are drawn in other ways. */
const VOLATILE =
  /^EXPLAIN|\b(random|uuid|gen_random_uuid|uuidv[47]|now|today)\(|\bcurrent_(date|time|timestamp)\b|_memory\(/i

/** Test files share their modules, but each loads this one. */
const isPatched = (prototype: Duck) => Object.hasOwn(prototype.run, 'isRecorded')

const seen = new Set<string>()

function record(sql: string, parameters: readonly string[], isUpload: boolean): void {
  if (VOLATILE.test(sql) || /(https?|s3):\/\//.test(sql)) return
  try {
    const replaced = sql.replace(PATHS, (quoted, path: string) => {
      const kept = keep(path.replaceAll("''", "'"))
      return kept === undefined ? quoted : `'${kept}'`
    })
    const statement: Recorded = { sql: replaced, parameters, isUpload }
    const line = JSON.stringify(statement)
    const hash = createHash('sha1').update(line).digest('base64')
    if (seen.has(hash)) return
    seen.add(hash)
    appendFileSync(join(folder, `${process.pid}.ndjson`), `${line}\n`)
  } catch {
    // A file that was removed meanwhile, or is too large.
  }
}

/** A link to a file, named for what it is. A path where nothing is, such as that of a file to write, is left as it is. */
function keep(path: string): string | undefined {
  if (!existsSync(path)) return undefined
  const { dev, ino, size, mtimeMs, isFile } = Object.assign(statSync(path), {
    isFile: statSync(path).isFile(),
  })
  if (!isFile || size > MOST_BYTES) throw new RangeError(path)
  const kept = join(folder, `${dev}-${ino}-${size}-${Math.round(mtimeMs)}${extname(path)}`)
  if (existsSync(kept)) return kept
  try {
    linkSync(path, kept)
  } catch {
    copyFileSync(path, kept)
  }
  return kept
}

if (isMainThread && !isPatched(Duck.prototype)) {
  const { run } = Duck.prototype
  Duck.prototype.run = function (sql, options) {
    record(sql, options?.parameters ?? [], true)
    return run.call(this, sql, options)
  }
  Object.assign(Duck.prototype.run, { isRecorded: true })
  const { prepare, bind, query } = DuckDb.prototype
  const prepared = new Map<bigint, string>()
  DuckDb.prototype.prepare = async function (connection, sql) {
    const statement = await prepare.call(this, connection, sql)
    prepared.set(statement, sql)
    return statement
  }
  DuckDb.prototype.bind = function (statement, parameters) {
    record(prepared.get(statement)!, parameters, false)
    prepared.delete(statement)
    bind.call(this, statement, parameters)
  }
  DuckDb.prototype.query = function (connection, sql) {
    record(sql, [], false)
    return query.call(this, connection, sql)
  }
}
