import type { Rewritten } from '../text/rewritten.ts'
import { covering, listed, type MergedCell, type Sheet } from './book.ts'

/** What sheets show in another way than rows and columns can: merged cells, hidden rows and columns, and notes. */
export class Marks {
  readonly #merged: MergedCell[] = []
  readonly #rows: number[] = []
  readonly #columns = new Set<number>()
  readonly #notes: string[] = []

  /** @param isWithin whether a row of the sheet is one of the table */
  add({ merged, hidden, notes = [] }: Sheet, isWithin: (row: number) => boolean): void {
    for (const cell of merged) if (isWithin(cell.row)) this.#merged.push(cell)
    for (const row of hidden?.rows ?? []) if (isWithin(row)) this.#rows.push(row)
    for (const column of hidden?.columns ?? []) this.#columns.add(column)
    for (const cell of notes) if (isWithin(Number(/\d+$/.exec(cell)?.[0]))) this.#notes.push(cell)
  }

  warnings(targets: Rewritten['targets']): readonly string[] {
    const columns = targets.filter(({ source }) => this.#columns.has(source ?? -1))
    return [
      ...(this.#merged.length > 0 ? [covering(this.#merged)] : []),
      ...hiddenOnes('rows', this.#rows.map(String)),
      ...hiddenOnes(
        'columns',
        columns.map(({ name }) => JSON.stringify(name)),
      ),
      ...(this.#notes.length > 0
        ? [`Notes on cells were not read (${this.#notes.length}): ${listed(this.#notes)}.`]
        : []),
    ]
  }
}

/** A warning for what was read although the sheet does not show it, as behind a filter. */
function hiddenOnes(kind: string, all: readonly string[]): readonly string[] {
  return all.length > 0 ? [`Hidden ${kind} were read as well (${all.length}): ${listed(all)}.`] : []
}
