import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { type ColumnType, openFiles, type Queryable } from '../../engine/index.ts'
import { sqlType } from '../../engine/types/index.ts'
import { newDataset, openWorkplace } from '../engine/workplace.ts'
import type { Row, Type } from '../filter/support/model.ts'
import { SAMPLES, type Sample } from '../filter/support/pools.ts'

export interface TableColumn {
  readonly name: string
  readonly type: Type
  readonly columnType: ColumnType
  readonly pool: readonly Sample[]
}

const DECIMAL = { precision: 10, scale: 2 }
const FINE = { precision: 30, scale: 4 }

/** The columns of every table. The last one is added when some rows are there already. */
export const COLUMNS: readonly TableColumn[] = [
  { name: 'i', type: 'integer', columnType: 'integer', pool: SAMPLES.integer },
  { name: 'j', type: 'integer', columnType: 'integer', pool: SAMPLES.small },
  { name: 'd', type: 'double', columnType: 'double', pool: SAMPLES.double },
  { name: 'p', type: DECIMAL, columnType: 'decimal(10,2)', pool: SAMPLES.decimal },
  { name: 'q', type: FINE, columnType: 'decimal(30,4)', pool: SAMPLES.fine },
  { name: 's', type: 'string', columnType: 'string', pool: SAMPLES.string },
  { name: 'b', type: 'boolean', columnType: 'boolean', pool: SAMPLES.boolean },
  { name: 'day', type: 'date', columnType: 'date', pool: SAMPLES.date },
  { name: 'clock', type: 'time', columnType: 'time', pool: SAMPLES.time },
  { name: 'local', type: 'timestamp', columnType: 'timestamp', pool: SAMPLES.timestamp },
  { name: 'at', type: 'timestamptz', columnType: 'timestamptz', pool: SAMPLES.timestamptz },
  { name: 'u', type: 'uuid', columnType: 'uuid', pool: SAMPLES.uuid },
  { name: 'e', type: 'double', columnType: 'double', pool: SAMPLES.double },
]

/** Rows that differ in a block; where a block is a row group, they come again and again. */
const DIFFERENT = 8
/** DuckDB's smallest row group. */
const GROUP = 2_048

type Cell = Sample | null

/** The cells of one column in one block. */
type Cells = readonly Cell[]

export interface Plan {
  /** Parts of a dataset of one row group each, or files with many row groups. */
  readonly layout: 'parts' | 'files'
  /** By block and column. */
  readonly blocks: readonly (readonly Cells[])[]
  /** How many blocks are there before the last column is added. */
  readonly before: number
  /** Whether files have dictionaries, and with them Bloom filters. */
  readonly dictionaries: boolean
}

/** Columns that are null, NaN or one value throughout a block, that are sorted, or that are anything. */
function cellsOf({ pool, type }: TableColumn): fc.Arbitrary<Cells> {
  const sample = fc.constantFrom(...pool)
  const all = (cell: Cell): Cells => Array.from({ length: DIFFERENT }, () => cell)
  const some = (cell: fc.Arbitrary<Cell>) => fc.array(cell, { minLength: DIFFERENT, maxLength: DIFFERENT })
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 2, arbitrary: fc.constant(all(null)) },
    sample.map(all),
    ...(type === 'double' ? [fc.constant(all(pool[0]!))] : []),
    some(sample).map((cells) => cells.toSorted((a, b) => pool.indexOf(a!) - pool.indexOf(b!))),
    some(fc.oneof({ weight: 3, arbitrary: sample }, fc.constant(null))),
  )
}

export function plans(): fc.Arbitrary<Plan> {
  return fc
    .record({
      layout: fc.constantFrom('parts' as const, 'files' as const),
      blocks: fc.array(fc.tuple(...COLUMNS.map(cellsOf)), { minLength: 1, maxLength: 4 }),
      before: fc.nat(3),
      dictionaries: fc.boolean(),
    })
    .map((plan) => {
      const before = Math.min(plan.before, plan.blocks.length - 1)
      const blocks = plan.blocks.map((block, at) =>
        at < before ? [...block.slice(0, -1), Array<Cell>(DIFFERENT).fill(null)] : block,
      )
      return { ...plan, blocks, before }
    })
}

/** Rows as the model has them: those that differ, and where each of them is. */
export interface ModelRows {
  readonly rows: readonly Row[]
  /** For each row of the table, which of `rows` it is. */
  readonly at: readonly number[]
}

export function modelOf({ blocks, layout }: Plan): ModelRows {
  const rows = blocks.flatMap((block) =>
    Array.from({ length: DIFFERENT }, (_, row) =>
      Object.fromEntries(COLUMNS.map(({ name }, column) => [name, block[column]![row]?.value ?? null])),
    ),
  )
  const times = layout === 'files' ? GROUP / DIFFERENT : 1
  const at = blocks.flatMap((_, block) =>
    Array.from({ length: DIFFERENT * times }, (_, row) => block * DIFFERENT + (row % DIFFERENT)),
  )
  return { rows, at }
}

/** The table as the engine has it. Its column `n` numbers the rows. */
export interface Written extends AsyncDisposable {
  readonly source: Queryable
}

/** Writes tables, one after the other. */
export class Writer implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'parquetry-differential-'))
  readonly #duck: DuckDBInstance
  readonly #place: Awaited<ReturnType<typeof openWorkplace>>

  private constructor(duck: DuckDBInstance, place: Awaited<ReturnType<typeof openWorkplace>>) {
    this.#duck = duck
    this.#place = place
  }

  static async open(): Promise<Writer> {
    return new Writer(
      await DuckDBInstance.create(':memory:', { threads: '1' }),
      await openWorkplace({ threads: 1, workers: 1 }),
    )
  }

  write(plan: Plan): Promise<Written> {
    return plan.layout === 'files' ? this.#files(plan) : this.#parts(plan)
  }

  async #parts({ blocks, before }: Plan): Promise<Written> {
    const columns = [
      { name: 'n', type: 'integer' as const },
      ...COLUMNS.map(({ name, columnType }) => ({ name, type: columnType })),
    ]
    const dataset = await newDataset(this.#place.engine, before > 0 ? columns.slice(0, -1) : columns)
    for (const [number, block] of blocks.entries()) {
      if (number > 0 && number === before) await dataset.declareColumns(columns)
      const known = number < before ? COLUMNS.slice(0, -1) : COLUMNS
      const lines = Array.from({ length: DIFFERENT }, (_, row) =>
        JSON.stringify({
          n: number * DIFFERENT + row,
          ...Object.fromEntries(
            known.map(({ name, type }, at) => [name, sent(block[at]![row] ?? null, type)]),
          ),
        }),
      )
      await dataset.append({ format: 'ndjson', body: bytesOf(lines.join('\n')) })
    }
    return { source: dataset, [Symbol.asyncDispose]: () => this.#place.engine.deleteDataset(dataset.id) }
  }

  async #files(plan: Plan): Promise<Written> {
    const { blocks, before } = plan
    const folder = mkdtempSync(join(this.#folder, 'table-'))
    const connection = await this.#duck.connect()
    try {
      await connection.run("SET TimeZone = 'UTC'")
      const groups = before > 0 ? [blocks.slice(0, before), blocks.slice(before)] : [blocks]
      for (const [number, group] of groups.entries()) {
        const columns = before > 0 && number === 0 ? COLUMNS.slice(0, -1) : COLUMNS
        const options = plan.dictionaries ? '' : ', DICTIONARY_SIZE_LIMIT 1'
        await connection.run(
          `COPY (${selectOf(group, columns, number === 0 ? 0 : before)}) ` +
            `TO '${join(folder, `${number}.parquet`)}' (FORMAT parquet, ROW_GROUP_SIZE ${GROUP}${options})`,
        )
      }
    } finally {
      connection.closeSync()
    }
    const files = await openFiles(folder, { threads: 1, workers: 1 })
    return {
      source: files,
      async [Symbol.asyncDispose]() {
        await files.close()
        rmSync(folder, { recursive: true })
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#place[Symbol.asyncDispose]()
    this.#duck.closeSync()
    rmSync(this.#folder, { recursive: true })
  }
}

/** The rows of blocks, each block as often as it takes to fill a row group. */
function selectOf(blocks: Plan['blocks'], columns: readonly TableColumn[], first: number): string {
  const rows = blocks.flatMap((block, number) =>
    Array.from({ length: DIFFERENT }, (_, row) => {
      const cells = columns.map(({ columnType }, at) => {
        const cell = block[at]![row]
        return cell
          ? `CAST('${cell.cell.replaceAll("'", "''")}' AS ${sqlType(columnType)})`
          : `CAST(NULL AS ${sqlType(columnType)})`
      })
      return `(${[`${number}::BIGINT`, `${row}::BIGINT`, ...cells].join(', ')})`
    }),
  )
  const names = columns.map(({ name }) => `"${name}"`)
  const n = `(${first} + block) * ${GROUP} + r * ${DIFFERENT} + "row"`
  return (
    `SELECT ${n} AS n, ${names.join(', ')} FROM (VALUES ${rows.join(', ')}) v(block, "row", ${names.join(', ')}), ` +
    `range(${GROUP / DIFFERENT}) g(r) ORDER BY n`
  )
}

/** A cell as JSON for an upload; numbers as text, which keeps all digits. */
function sent(cell: Cell, type: Type): unknown {
  if (!cell) return null
  if (type === 'boolean') return cell.value
  if (type === 'double') return cell.cell.replace('Infinity', 'INF')
  return type === 'timestamp' ? cell.cell.replace('Z', '') : cell.cell
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${text}\n`)
}
