import { open, rm } from 'node:fs/promises'
import type { Duck, RunOptions } from '../duckdb/duck.ts'
import { fileEnd, MAGIC, readFooter } from '../parquet/file-footer.ts'
import { rowGroups } from '../parquet/footer.ts'
import { type JoinedColumn, type JoinedFile, joinFiles } from '../parquet/joined.ts'
import { appendOrdinals } from '../parquet/ordinals.ts'
import type { Column } from '../types/index.ts'
import { writeAll } from './file.ts'
import { writePart } from './part.ts'
import { readParts } from './parts.ts'
import type { Described, PartSize } from './request.ts'
import { partStatistics } from './statistics.ts'

/** Rows `from` (inclusive) to `to` (exclusive) of a part, and the file that gets them. */
export interface Cut {
  readonly from: number
  readonly to: number
  readonly target: string
}

/** How much is read and written at once. */
const COPIED = 1 << 20

/**
 * Writes the rows of a part as several parts. DuckDB could split them over several files in one pass, but would not
 * keep their order then. Row groups are copied as they are, so each part ends with the row group whose end is nearest
 * to where it should end. If the row groups are too large for that, the rows are written anew.
 * @param rawBytes the bytes of all values of the part; each new part is given a share according to its rows
 */
export async function cutPart(
  duck: Duck,
  part: string,
  cuts: readonly Cut[],
  columns: readonly Column[],
  rawBytes: number,
  options: RunOptions,
): Promise<Described<PartSize>[]> {
  const all = cuts.at(-1)!.to
  const made: Described<PartSize>[] = []
  try {
    const { footer } = await footerOf(part)
    const files = partsByGroups(footer, cuts)
    for (const [index, cut] of cuts.entries()) {
      const share = (rows: number) => Math.round((rawBytes * rows) / all)
      const { rows, bytes } =
        (files && (await copyGroups(part, files[index]!, cut.target, columns.length, options))) ??
        (await writeRows(duck, part, cut, share(cut.to - cut.from), columns, options))
      const statistics = await partStatistics(cut.target, columns)
      made.push({ rows, bytes, rawBytes: share(rows), statistics })
    }
    return made
  } catch (error) {
    for (const { target } of cuts) await rm(target, { force: true })
    throw error
  }
}

async function footerOf(part: string) {
  await using handle = await open(part)
  return await readFooter(handle)
}

/** The row groups of each cut; undefined if one of the cuts would get none. */
function partsByGroups(footer: Uint8Array, cuts: readonly Cut[]): JoinedFile[] | undefined {
  let rows = 0
  const ends = [0, ...rowGroups(footer).map((group) => (rows += group.rows))]
  const nearest = (row: number) => {
    const distances = ends.map((end) => Math.abs(end - row))
    return distances.indexOf(Math.min(...distances))
  }
  const files = cuts.map(({ from, to }) => ({ footer, groups: { from: nearest(from), to: nearest(to) } }))
  return files.every(({ groups }) => groups.from < groups.to) ? files : undefined
}

/** Copies row groups into a new part. @returns undefined if their pages can't be copied */
async function copyGroups(
  part: string,
  file: JoinedFile,
  target: string,
  columns: number,
  { signal }: RunOptions,
): Promise<{ rows: number; bytes: number } | undefined> {
  const stored = Array.from(
    { length: columns },
    (_, index): JoinedColumn => ({ name: `c${index}`, stored: index }),
  )
  const joined = joinFiles([file], stored)
  if (!joined) return undefined
  {
    await using from = await open(part)
    await using to = await open(target, 'w')
    await writeAll(to, MAGIC)
    const buffer = Buffer.allocUnsafe(COPIED)
    for (const range of joined.copied) {
      for (let at = range.from; at < range.to; ) {
        signal?.throwIfAborted()
        const { bytesRead } = await from.read(buffer, 0, Math.min(COPIED, range.to - at), at)
        if (bytesRead === 0) throw new RangeError(`${part} is cut off`)
        await writeAll(to, buffer.subarray(0, bytesRead))
        at += bytesRead
      }
    }
    await writeAll(to, fileEnd(joined.footer))
  }
  return { rows: joined.rows, bytes: await appendOrdinals(target) }
}

function writeRows(
  duck: Duck,
  part: string,
  { from, to, target }: Cut,
  rawBytes: number,
  columns: readonly Column[],
  options: RunOptions,
): Promise<{ rows: number; bytes: number }> {
  const selected = columns.map((_, index) => `c${index}`).join(', ')
  return writePart(
    duck,
    `SELECT ${selected} FROM ${readParts([part])} WHERE file_row_number >= ${from} AND file_row_number < ${to}`,
    target,
    { rows: to - from, rawBytes, columns },
    options,
  )
}
