import type { ConnectorContext } from '../../connector.ts'
import { ConnectorError } from '../../errors.ts'
import { isRecord, list, number, parseJson, record, text } from '../../read.ts'
import { type Cube, coordinateAt, coordinateOf } from './cube.ts'

/** Number of coordinates in one request. */
const AT_ONCE = 300
/** The most requests for one page of a list. */
const MOST_QUESTIONS = 30

/**
 * The positions of the series from `offset` to `offset + limit`, in the order of combinations. If a table has fewer
 * series than combinations, its metadata don't say which are missing, so the service is asked about them, beginning
 * with the first. Its answers are cached, so reading page after page asks only once for each combination.
 */
export async function existingPlaces(
  cube: Cube,
  { limit, offset }: { limit: number; offset: number },
  context: ConnectorContext,
): Promise<readonly number[]> {
  const { combinations, size } = cube
  const last = Math.min(offset + limit, size ?? combinations)
  if (size === null || size >= combinations) return range(offset, last)
  const found: number[] = []
  let questions = 0
  for (let from = 0; from < combinations && found.length < last; from += AT_ONCE) {
    if (questions >= MOST_QUESTIONS) throw tooFar()
    const places = range(from, Math.min(from + AT_ONCE, combinations))
    const flags = await existence(cube, places, context, () => questions++)
    // Not every mirror of the service answers this question; without an answer the first combinations are returned.
    if (flags === undefined) return range(offset, last)
    found.push(...places.filter((_, index) => flags[index] === '1'))
  }
  return found.slice(offset, last)
}

function tooFar(): ConnectorError {
  const sentence =
    'The series of this table at Statistics Canada can only be listed from the first one on, page by page.'
  return new ConnectorError('invalid_option', sentence)
}

/** A `1` for each position with a series, a `0` for each without; undefined if the service doesn't say. */
function existence(
  cube: Cube,
  places: readonly number[],
  { cached }: ConnectorContext,
  onQuestion: () => void,
): Promise<string | undefined> {
  const coordinates = places.map((place) => coordinateOf(coordinateAt(cube, place)))
  const json = coordinates.map((coordinate) => ({ productId: Number(cube.product), coordinate }))
  return cached({ method: 'POST', path: ['getSeriesInfoFromCubePidCoord'], json }, (answer) => {
    onQuestion()
    if (answer.status >= 400) return undefined
    const known = new Set(
      list(parseJson(answer)).flatMap((item) => coordinateIn(record(item)['object']) ?? []),
    )
    return coordinates.map((coordinate) => (known.has(coordinate) ? '1' : '0')).join('')
  })
}

/** The coordinate of an item that is a series; for others the service sends a sentence, or a vector of 0. */
function coordinateIn(object: Parameters<typeof text>[0]): string | null {
  if (!isRecord(object) || (number(object['vectorId']) ?? 0) === 0) return null
  const coordinate = text(object['coordinate'])
  return coordinate === null ? null : coordinateOf(coordinate.split('.').slice(0, 10).join('.'))
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)
}
