import { readFile, stat } from 'node:fs/promises'
import { EngineError } from '../../errors.ts'
import { filledColumns, readMetadata } from '../../types/file-metadata.ts'
import { counted } from '../../util/counted.ts'
import { type SinkTarget, sinkFile } from '../file.ts'
import type { ReadRequest } from '../request.ts'
import { type KnownColumns, layColumns, namesOfColumns } from '../targets.ts'
import { badCell, malformed, quoteValue } from '../text/errors.ts'
import { type Rewritten, TypedRows } from '../text/rewritten.ts'
import { kindOf, TEXT_KIND } from '../text/text-kinds.ts'
import { writeRows } from '../text/write-rows.ts'

/** One of the dimensions of a cube: its values have codes, and perhaps labels. */
export interface Dimension {
  readonly name: string
  readonly title?: string | undefined
  readonly codes: readonly string[]
  readonly labels?: readonly (string | undefined)[]
}

/** A cell of a cube by its number, of which those of the last dimension are next to each other. */
export interface Cell {
  readonly at: number
  /** The number as the file writes it; null where it is missing. */
  readonly value: string | null
  /** Why it is missing, or what is special about it. */
  readonly status: string | null
}

/** A statistical table of several dimensions. */
export interface Cube {
  readonly title?: string | undefined
  readonly source?: string | undefined
  readonly dimensions: readonly Dimension[]
  readonly cells: Iterable<Cell>
}

/** Files of cubes are in memory as a whole. */
const MOST_BYTES = 256 * 2 ** 20

/** @throws EngineError `upload_too_large` */
export async function readWhole({ file, bytes }: ReadRequest): Promise<Uint8Array> {
  if (bytes) return bytes
  const { size } = await stat(file)
  if (size <= MOST_BYTES) return readFile(file)
  throw new EngineError(
    'upload_too_large',
    `A file of this format may have ${MOST_BYTES} bytes; it has ${size}. Send its parts one by one, or as csv.`,
    { details: { limit: MOST_BYTES } },
  )
}

/** How many cells the dimensions make. @throws EngineError `invalid_upload` */
export function sizeOf(dimensions: readonly Dimension[]): number {
  const size = dimensions.reduce((all, { codes }) => all * codes.length, 1)
  if (dimensions.length === 0 || !Number.isSafeInteger(size))
    throw malformed('The table has no dimensions, or too large ones.')
  return size
}

/** The error where the values are not as many as the dimensions make. */
export function otherCount(count: number, dimensions: readonly Dimension[]): Error {
  const sizes = dimensions.map(({ codes }) => codes.length).join(' × ')
  return malformed(
    `The table has ${counted(count, 'value')}; its dimensions make ${sizes} = ${sizeOf(dimensions)}.`,
  )
}

/**
 * Writes a cube as rows of csv, one for each cell: a column for each dimension, `value` and `status`.
 * @param target where the csv is to be written
 * @throws EngineError `invalid_upload`, `column_conflict`, `storage_full`
 */
export async function writeCube(
  request: ReadRequest,
  target: SinkTarget,
  known: KnownColumns,
  { title = '', source = '', dimensions, cells }: Cube,
): Promise<Rewritten> {
  const given = [...dimensions.map(({ name }) => name), 'value', 'status']
  const names = namesOfColumns(given, { names: 'number' })
  const titles = dimensions.map(({ title = '' }, at) => [names[at]!, new Map([['title', title]])] as const)
  const metadata = readMetadata(new Map(Object.entries({ title, source })), new Map(titles))
  const targets = filledColumns(layColumns(known, names), metadata)
  const rows = new TypedRows(targets, request.options)
  const size = sizeOf(dimensions)
  let stride = size
  const columns = dimensions.map(({ codes, labels }) => {
    stride /= codes.length
    const texts = codes.map(
      (code, at) => (request.options?.labels === true ? labels?.[at] : undefined) ?? code,
    )
    return { stride, texts: texts.map((text) => ({ text, kind: kindOf(text) })) }
  })
  await writeRows(
    request,
    target,
    rows,
    cells,
    ({ at, value, status }) => {
      for (const { stride, texts } of columns) {
        const { text, kind } = texts[Math.floor(at / stride) % texts.length]!
        rows.value(text, kind, true)
      }
      if (value === null) rows.null()
      else if (NUMBER.test(value)) rows.value(value, kindOf(value), false)
      else throw badCell(rows.rows + 1, names.at(-2)!, `${quoteValue(value)} is not a number.`)
      if (status === null) rows.null()
      else rows.value(status, kindOf(status) | TEXT_KIND.text, true)
      rows.endRow()
    },
    size,
  )
  const result = rows.result(sinkFile(target))
  const isEmpty = result.source.nulls[dimensions.length] === rows.rows
  return {
    ...result,
    targets: result.targets.map((one, at) =>
      isEmpty && one.source === dimensions.length && targets[at]!.type === undefined
        ? { ...one, type: 'double' }
        : one,
    ),
    metadata: metadata.dataset,
  }
}

const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/
