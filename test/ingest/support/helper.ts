import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { EngineError, httpWords } from '../../../engine/errors.ts'
import { Ingestor } from '../../../engine/ingest/ingestor.ts'
import type { Jobs } from '../../../engine/ingest/jobs.ts'
import type { IngestRequest, IngestResult, UploadFormat } from '../../../engine/ingest/request.ts'
import type { DeclaredColumn } from '../../../engine/types/columns.ts'
import { type Column, type ColumnType, quoteLiteral } from '../../../engine/types/index.ts'
import { ENGINE_STATUSES } from '../../../server/http/errors.ts'

type Joining = 'missing' | 'addColumns' | 'fileColumn' | 'key'

export type Given = Partial<
  Pick<IngestRequest, 'existing' | 'declared' | 'gzip' | 'options' | 'limits' | Joining> &
    NonNullable<Parameters<Jobs['ingest']>[1]>
>

export interface Read extends IngestResult {
  /** `name: type` of each column. */
  readonly shape: readonly string[]
  /** Every value as DuckDB's text, or null. */
  readonly values: readonly (readonly (string | null)[])[]
  readonly part: string
}

interface Shared {
  readonly folder: string
  readonly temporary: string
  readonly ingestor: Ingestor
}

/** One ingestor for all files of a process, with whose end it ends: its readers take longer to start than to read. */
let shared: Shared | undefined

function openShared(): Shared {
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-ingest-'))
  const temporary = mkdtempSync(join(folder, 'tmp-'))
  // Vitest ends its processes by this signal.
  process.once('SIGTERM', () => process.exit())
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return { folder, temporary, ingestor: new Ingestor({ tempDirectory: temporary, folders: [folder] }) }
}

/** An ingestor and a folder, for the tests of one file. */
export class Bench {
  readonly #shared = (shared ??= openShared())
  readonly folder = mkdtempSync(join(this.#shared.folder, 'bench-'))
  /** For ingestors of a test's own. */
  readonly temporary = mkdtempSync(join(this.folder, 'tmp-'))
  ingestor = this.#shared.ingestor
  #instance!: DuckDBInstance
  #count = 0

  async open(): Promise<void> {
    this.#instance = await DuckDBInstance.create(':memory:')
  }

  async close(): Promise<void> {
    if (this.ingestor !== this.#shared.ingestor) await this.ingestor.close()
    this.#instance.closeSync()
    rmSync(this.folder, { recursive: true, force: true })
  }

  temporaryFiles(): string[] {
    return [this.temporary, this.#shared.temporary].flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name),
    )
  }

  path(ending = ''): string {
    return join(this.folder, `${++this.#count}${ending}`)
  }

  file(content: string | Uint8Array): string {
    const path = this.path()
    writeFileSync(path, content)
    return path
  }

  /** Ingests and gives columns and values. */
  async read(format: UploadFormat, content: string | Uint8Array, given: Given = {}): Promise<Read> {
    return this.readFile(format, this.file(content), given)
  }

  async readFile(format: UploadFormat, file: string, given: Given = {}): Promise<Read> {
    const { part, ...result } = await this.ingest(format, file, given)
    return {
      ...result,
      shape: result.columns.map(({ name, type }) => `${name}: ${type}`),
      values: await this.values(part),
      part,
    }
  }

  /** Ingests a file and reads nothing back. Errors name options as HTTP does. */
  async ingest(
    format: UploadFormat,
    file: string,
    { signal, onProgress, ...given }: Given = {},
  ): Promise<IngestResult & { part: string }> {
    const part = this.path('.parquet')
    const limits = { unpackedBytes: 1 << 30 }
    const request = { file, format, target: part, limits, ...given }
    const ingested = this.ingestor.jobs.ingest(request, { signal, onProgress }).catch((error: unknown) => {
      throw error instanceof EngineError ? Object.assign(error, error.inWords(httpWords)) : error
    })
    return { ...(await ingested), part }
  }

  /** Writes the rows of parts as one part, with other columns where `to` says so. */
  rewrite(parts: readonly string[], target: string, from: readonly Column[], to = from) {
    return this.ingestor.jobs.rewrite({ parts, target, from, to })
  }

  /** `status code: message` of the error that an upload is refused with; nothing may stay behind. */
  async refusal(format: UploadFormat, content: string | Uint8Array, given: Given = {}): Promise<string> {
    const before = readdirSync(this.folder).filter((name) => name.endsWith('.parquet')).length
    try {
      await this.read(format, content, given)
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      const after = readdirSync(this.folder).filter((name) => name.endsWith('.parquet')).length
      if (after !== before) throw new Error('A part was left behind.')
      return `${ENGINE_STATUSES[error.code]} ${error.code}: ${error.message}`
    }
    return 'taken'
  }

  async values(part: string): Promise<(string | null)[][]> {
    return (await this.query(
      `SELECT CAST(COLUMNS('c\\d+') AS VARCHAR) FROM read_parquet(${quoteLiteral(part)})`,
    )) as (string | null)[][]
  }

  async query(sql: string): Promise<unknown[][]> {
    const connection = await this.#instance.connect()
    try {
      await connection.run("SET TimeZone = 'UTC'")
      return (await connection.runAndReadAll(sql)).getRowsJS() as unknown[][]
    } finally {
      connection.disconnectSync()
    }
  }
}

/** A bench for all tests of a file. */
export function useBench(): Bench {
  const bench = new Bench()
  beforeAll(() => bench.open())
  // Whatever a test did, no temporary file outlives it.
  afterEach(() => expect(bench.temporaryFiles()).toEqual([]))
  afterAll(() => bench.close())
  return bench
}

export function column(name: string, type: ColumnType, more: Partial<Column> = {}): Column {
  return { name, type, nullable: true, description: '', ...more }
}

export function declared(columns: Readonly<Record<string, ColumnType>>): DeclaredColumn[] {
  return Object.entries(columns).map(([name, type]) => ({ name, type }))
}
