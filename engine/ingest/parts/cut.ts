import { open } from 'node:fs/promises'
import type { Duck, RunOptions } from '../../duckdb/duck.ts'
import { rowGroups } from '../../parquet/footer.ts'
import { type Joined, joinFiles } from '../../parquet/joined.ts'
import { fileEnd, footerOf, MAGIC, readExactly } from '../../parquet/parquet-file.ts'
import type { Column } from '../../types/index.ts'
import { writeWhole } from '../../util/whole-file.ts'
import type { SizedPart } from '../request.ts'
import { finishPart, type WrittenPart, writePart } from './part.ts'
import { readParts } from './parts.ts'

/** Rows `from` (inclusive) to `to` (exclusive) of a part, and the file that gets them. */
interface Cut {
  readonly from: number
  readonly to: number
  readonly target: string
}

interface CutInput {
  readonly part: string
  readonly cuts: readonly Cut[]
  readonly columns: readonly Column[]
  /** The bytes of all values of the part; each new part is given a share according to its rows. */
  readonly rawBytes: number
}

const COPIED_BYTES = 1 << 20

/**
 * Writes the rows of a part as several parts. DuckDB could split them over several files in one pass, but would not
 * keep their order then. Row groups are copied as they are, so a part ends with the one that ends nearest to the wanted
 * row. Wide rows are cut within row groups, which have to be written anew.
 */
export async function cutPart(
  duck: Duck,
  { part, cuts, columns, rawBytes }: CutInput,
  options: RunOptions,
): Promise<SizedPart[]> {
  const names = columns.map((_, index) => `c${index}`)
  const { footer } = await footerOf(part)
  const ends = groupEnds(footer, cuts)
  const share = (rows: number) => Math.round((rawBytes * rows) / cuts.at(-1)!.to)
  const made: SizedPart[] = []
  for (const [index, { from, to, target }] of cuts.entries()) {
    const groups = ends && { from: ends[index - 1] ?? 0, to: ends[index]! }
    const stored = names.map((name, place) => ({ name, stored: place }))
    const copied = groups && joinFiles([{ footer, groups }], stored)
    let written: WrittenPart
    if (copied) {
      await copyInto(target, part, copied, options.signal)
      written = await finishPart(target, columns)
    } else {
      const rows = to - from
      const select = `SELECT ${names.join(', ')} FROM ${readParts([part])} WHERE file_row_number >= ${from} AND file_row_number < ${to}`
      written = await writePart(duck, select, target, { rows, rawBytes: share(rows), columns }, options)
    }
    made.push({ ...written, rawBytes: share(written.rows) })
  }
  return made
}

/** For each cut, the number of row groups before its end; undefined if there is a cut without any. */
function groupEnds(footer: Uint8Array, cuts: readonly Cut[]): number[] | undefined {
  let rows = 0
  const starts = [0, ...rowGroups(footer).map((group) => (rows += group.rows))]
  const ends = cuts.map(({ to }) => {
    const next = starts.findIndex((start) => start >= to)
    return starts[next]! - to > to - starts[next - 1]! ? next - 1 : next
  })
  return ends.every((end, index) => end > (ends[index - 1] ?? 0)) ? ends : undefined
}

async function copyInto(
  target: string,
  part: string,
  { copied, footer }: Joined,
  signal: AbortSignal | undefined,
): Promise<void> {
  await using from = await open(part)
  async function* bytes() {
    yield MAGIC
    for (const { from: start, to: end } of copied) {
      for (let at = start; at < end; at += COPIED_BYTES) {
        signal?.throwIfAborted()
        yield await readExactly(from, at, Math.min(COPIED_BYTES, end - at))
      }
    }
    yield fileEnd(footer)
  }
  await writeWhole(target, bytes())
}
