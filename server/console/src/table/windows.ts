import { useLayoutEffect, useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import type { Field, RowWindow } from '../csv.ts'
import { useRound } from '../hooks.ts'

type Row = readonly Field[]

export interface RowSource {
  /** In the order of the cells. */
  readonly columns: readonly Column[]
  readonly fetch: (page: {
    readonly skip: number
    readonly top: number
    readonly signal: AbortSignal
  }) => Promise<RowWindow>
}

const CELLS_PER_WINDOW = 4_000
const MOST_WINDOWS = 80
const REST_MS = 70

/**
 * Caches the rows of a query, in windows that are fetched as they come into view. A request whose window is no longer
 * wanted is cancelled, which also ends its query on the server.
 */
export class RowWindows {
  readonly columns: readonly Column[]
  readonly size: number
  /** The number of matching rows; undefined until the first window has arrived. */
  rowCount: number | undefined
  error: unknown
  readonly #fetch: RowSource['fetch']
  readonly #onChange: () => void
  readonly #loaded = new Map<number, readonly Row[]>()
  readonly #loading = new Map<number, AbortController>()
  #requested: readonly number[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #closed = false

  constructor({ columns, fetch }: RowSource, onChange: () => void) {
    this.columns = columns
    this.#fetch = fetch
    this.#onChange = onChange
    this.size = Math.max(20, Math.min(100, Math.floor(CELLS_PER_WINDOW / Math.max(columns.length, 1))))
    this.#load(0)
  }

  row(index: number): Row | undefined {
    return this.#loaded.get(Math.floor(index / this.size))?.[index % this.size]
  }

  /** The rows of the first window, from which column widths are measured. */
  get firstRows(): readonly Row[] {
    return this.#loaded.get(0) ?? []
  }

  /** Sets the rows in view. Missing ones are fetched when the view has not moved for a moment. */
  want(first: number, end: number): void {
    if (end <= first || this.#closed) return
    const from = Math.floor(first / this.size)
    const to = Math.floor((end - 1) / this.size)
    this.#requested = Array.from({ length: to - from + 1 }, (_, step) => from + step)
    clearTimeout(this.#timer)
    if (this.#missing().length > 0) this.#timer = setTimeout(() => this.#fetchRequested(), REST_MS)
  }

  retry(): void {
    this.error = undefined
    if (this.rowCount === undefined) this.#load(0)
    else this.#fetchRequested()
    this.#onChange()
  }

  /** Stops fetching. Rows that have arrived stay available. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    for (const controller of this.#loading.values()) controller.abort()
    this.#loading.clear()
  }

  #fetchRequested(): void {
    for (const [window, controller] of this.#loading) {
      if (this.#requested.includes(window) || window === 0) continue
      controller.abort()
      this.#loading.delete(window)
    }
    for (const window of this.#missing()) this.#load(window)
  }

  #missing(): number[] {
    return this.#requested.filter((window) => !this.#loaded.has(window) && !this.#loading.has(window))
  }

  async #load(window: number): Promise<void> {
    const controller = new AbortController()
    this.#loading.set(window, controller)
    try {
      const { size } = this
      const answer = await this.#fetch({ skip: window * size, top: size, signal: controller.signal })
      this.rowCount = answer.rowCount
      this.error = undefined
      this.#keep(window, answer.rows)
    } catch (error) {
      if (controller.signal.aborted) return
      this.error = error
    } finally {
      if (this.#loading.get(window) === controller) this.#loading.delete(window)
    }
    this.#onChange()
  }

  /**
   * Maps keep insertion order, so the oldest windows are removed first. The first window is kept, because column widths
   * are measured from it.
   */
  #keep(window: number, rows: readonly Row[]): void {
    this.#loaded.set(window, rows)
    for (const oldest of this.#loaded.keys()) {
      if (this.#loaded.size <= MOST_WINDOWS) break
      if (oldest !== 0 && !this.#requested.includes(oldest)) this.#loaded.delete(oldest)
    }
  }
}

export type Rows = ReturnType<typeof useRows>

/**
 * The rows of a source. When it changes, the old rows stay until the first new ones arrive, so that the table doesn't
 * flicker. Nothing is fetched while there is no source.
 *
 * @returns `windows`, undefined until the first rows have arrived or could not be had; their `error`; whether the first
 * rows of this source are `pending`, so that the rows are still those of the last one
 */
export function useRows(source: RowSource | undefined) {
  const [opened, setOpened] = useState<{ readonly source: RowSource; readonly windows: RowWindows }>()
  const [, changed] = useRound()
  // Asked for before the page is painted, which a slow machine takes a while for.
  useLayoutEffect(() => {
    if (!source) return
    const windows = new RowWindows(source, () => {
      setOpened((before) => (before?.windows === windows ? before : { source, windows }))
      changed()
    })
    return () => windows.close()
  }, [source])
  return { windows: opened?.windows, error: opened?.windows.error, pending: opened?.source !== source }
}
