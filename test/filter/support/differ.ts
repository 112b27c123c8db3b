import { EngineError } from '../../../engine/errors.ts'
import { runtimeFilterError } from '../../../engine/filter/index.ts'
import { evaluate, failsEarly } from './evaluate.ts'
import { Generator } from './generate.ts'
import type { Model, Row } from './model.ts'
import { COLUMNS, randomRows } from './pools.ts'
import { print } from './print.ts'
import { Random } from './random.ts'
import { Table } from './table.ts'

export interface Tally {
  filters: number
  /** Failed in both. */
  failures: number
  /** Refused before running, for a value that the model doesn't look at: a literal zero divisor, a negative literal. */
  refused: number
  /** Let some rows pass, but not all. */
  selective: number
}

/** What a literal does that a value of a column would do only at run time. */
const REFUSED = /divides by zero|never negative|is beyond what can be held/

/** Runs random filters through the engine and through the model, and throws at the first difference. */
export class Differ implements AsyncDisposable {
  readonly tally: Tally = { filters: 0, failures: 0, refused: 0, selective: 0 }
  readonly #random: Random
  readonly #generator: Generator
  readonly #rows: readonly Row[]
  readonly #table: Table

  private constructor(random: Random, rows: readonly Row[], table: Table) {
    this.#random = random
    this.#generator = new Generator(random)
    this.#rows = rows
    this.#table = table
  }

  static async create(seed: number, rowCount: number): Promise<Differ> {
    const random = new Random(seed)
    const { cells, rows } = randomRows(random, rowCount)
    const types = Object.fromEntries(COLUMNS.map(({ name, type }) => [name, type]))
    return new Differ(random, rows, await Table.create(types, cells))
  }

  async next(): Promise<void> {
    const model = this.#generator.condition(1 + this.#random.below(4))
    const filter = print(model, this.#random)
    this.tally.filters++
    let passing: ReadonlySet<number>
    try {
      passing = new Set(await this.#table.rows(filter))
    } catch (error) {
      this.#failed(error, model, filter)
      return
    }
    if (passing.size > 0 && passing.size < this.#rows.length) this.tally.selective++
    this.#rows.forEach((row, index) => {
      const { value } = evaluate(model, row)
      // DuckDB may avoid a failure, by solving `x mul 2 gt 7` for x; where it didn't fail there is nothing to compare.
      if (value === undefined || (value === true) === passing.has(index)) return
      throw new Error(
        `${filter}\nrow ${index}: the model says ${value}, DuckDB ${passing.has(index)}\n${show(row)}`,
      )
    })
  }

  #failed(error: unknown, model: Model, filter: string): void {
    if (error instanceof EngineError) {
      if (error.code !== 'invalid_filter' || !REFUSED.test(error.message)) {
        throw new Error(`${filter}\n${error.code}: ${error.message}`)
      }
      this.tally.refused++
      return
    }
    const failure = runtimeFilterError(error)
    if (!failure) throw new Error(`${filter}\n${error instanceof Error ? error.message : error}`)
    if (!failsEarly(model) && !this.#rows.some((row) => evaluate(model, row).failing)) {
      throw new Error(`${filter}\nfails, the model doesn't: ${failure.message}\n${String(error)}`)
    }
    this.tally.failures++
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#table[Symbol.asyncDispose]()
  }
}

function show(row: Row): string {
  return JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
}
