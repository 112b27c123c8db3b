import type { Duck, RunOptions } from '../duckdb/duck.ts'
import { EngineError } from '../errors.ts'
import { VECTOR_ROWS } from '../parquet/row-groups.ts'
import { MOST_BYTES_AT_ONCE, rowsAtOnce } from '../parquet/wide-rows.ts'
import { fixedBytes } from '../types/index.ts'
import { lengthOf, readParts, total } from './parts/parts.ts'
import type { IngestResult } from './request.ts'

/**
 * Refuses a part in which the texts of rows that are read at once are so long that whoever reads them would need
 * gigabytes. The more bytes the rows have on average, the fewer are read at once, because the part is then cut into parts
 * of few rows.
 * @throws EngineError `upload_too_large`
 */
export async function refuseLongTexts(
  duck: Duck,
  part: string,
  { columns, rows, rawBytes }: IngestResult,
  options: RunOptions,
): Promise<void> {
  const fixed = columns.reduce((sum, { type }) => sum + (fixedBytes(type) ?? 0), 0)
  const texts = rawBytes - fixed * rows
  if (texts <= MOST_BYTES_AT_ONCE || texts * VECTOR_ROWS > MOST_BYTES_AT_ONCE * rows) return
  const atOnce = rowsAtOnce({ rows, rawBytes }, columns.length)
  const lengths = columns.flatMap(({ type }, index) =>
    fixedBytes(type) === undefined ? [`sum(${lengthOf(type, index)})`] : [],
  )
  const [longest] = await duck.run(
    `SELECT CAST(file_row_number // ${atOnce} AS DOUBLE) AS place, ${total(lengths)} AS bytes ` +
      `FROM ${readParts([part])} GROUP BY ALL ORDER BY bytes DESC LIMIT 1`,
    options,
  )
  const [place, bytes] = longest as [number, number]
  if (bytes <= MOST_BYTES_AT_ONCE) return
  const first = place * atOnce + 1
  const last = Math.min(rows, first + atOnce - 1)
  throw new EngineError(
    'upload_too_large',
    `The texts of rows ${first} to ${last} have ${bytes} bytes, and those of so many rows are read at once: they may ` +
      `have ${MOST_BYTES_AT_ONCE} bytes. Shorten them, or put the rows with long texts into a dataset of their own.`,
    { details: { row: first, limit: MOST_BYTES_AT_ONCE } },
  )
}
