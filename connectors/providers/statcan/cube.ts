import type { ConnectorContext, Page, SeriesDimension, SeriesInfo } from '../../connector.ts'
import { ConnectorError } from '../../errors.ts'
import type { JsonRecord } from '../../read.ts'
import { firstText, isRecord, list, number, parseJson, record, records, text } from '../../read.ts'

/** A table of Statistics Canada. Its combinations of members are series, all of them or only some. */
export type Cube = ReturnType<typeof readCube>
type Member = Cube['dimensions'][number]['members'][number]

/** Coordinates always have ten places, one per dimension. */
const PLACES = 10

export function readCube(object: JsonRecord) {
  const position = (dimension: JsonRecord) => number(dimension['dimensionPositionId']) ?? 0
  const dimensions = records(object['dimension'])
    .toSorted((a, b) => position(a) - position(b))
    .map((dimension, index) => ({
      id: text(dimension['dimensionPositionId']) ?? String(index + 1),
      name: firstText(dimension, 'dimensionNameEn', 'dimensionNameFr'),
      members: records(dimension['member']).map((member) => ({
        id: text(member['memberId']) ?? '',
        name: firstText(member, 'memberNameEn', 'memberNameFr') ?? '',
        /** Code of the unit of measure; only one dimension has such codes. */
        unit: text(member['memberUomCode']),
      })),
    }))
  const product = text(object['productId']) ?? ''
  const combinations = dimensions.reduce((size, { members }) => size * members.length, 1)
  return {
    product,
    title: firstText(object, 'cubeTitleEn', 'cubeTitleFr') ?? product,
    frequencyCode: text(object['frequencyCode']) ?? '',
    start: text(object['cubeStartDate']),
    end: text(object['cubeEndDate']),
    dimensions,
    /** How many combinations of members there are. */
    combinations: dimensions.length === 0 ? 0 : combinations,
    /** How many of the combinations are series; null if the provider doesn't say. */
    size: number(object['nbSeriesCube']),
  }
}

/** The members of the combination at a position; between neighbours the member of the last dimension changes first. */
function membersAt({ dimensions }: Cube, place: number): readonly Member[] {
  const found: Member[] = []
  let rest = place
  for (const { members } of dimensions.toReversed()) {
    found.unshift(members[rest % members.length]!)
    rest = Math.floor(rest / members.length)
  }
  return found
}

/** The short form of a coordinate, as used in a series id. */
function coordinateAt(cube: Cube, place: number): string {
  return membersAt(cube, place)
    .map(({ id }) => id)
    .join('.')
}

export function seriesAt(
  cube: Cube,
  place: number,
  frequency: string | null,
  unitName: (code: string | null) => string | null,
): SeriesInfo {
  const members = membersAt(cube, place)
  return {
    series_id: `${cube.product}/${coordinateAt(cube, place)}`,
    name: members.map(({ name }) => name).join('; '),
    frequency,
    unit: unitName(members.find(({ unit }) => unit !== null)?.unit ?? null),
    start: cube.start,
    end: cube.end,
  }
}

/** The full form of a coordinate, with 0 for dimensions that the table doesn't have. */
export function coordinateOf(short: string): string {
  const places = short.split('.')
  return [...places, ...Array<string>(PLACES - places.length).fill('0')].join('.')
}

/** The dimensions with the members of a coordinate; members that the table doesn't have are left out. */
export function dimensionsAt(
  cube: Cube,
  coordinate: string,
): readonly (SeriesDimension & Pick<Member, 'unit'>)[] {
  const ids = coordinate.split('.')
  return cube.dimensions.flatMap(({ id, name, members }, index) => {
    const member = members.find((each) => each.id === ids[index])
    return member === undefined ? [] : [{ id, name, code: member.id, label: member.name, unit: member.unit }]
  })
}

/** The table's title and the names of a coordinate's members. */
export function titleAt(cube: Cube, coordinate: string): string {
  const names = dimensionsAt(cube, coordinate).map(({ label }) => label)
  return [cube.title, ...(names.length === 0 ? [] : [names.join('; ')])].join(': ')
}

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
  { limit, offset }: Page,
  { cached }: ConnectorContext,
): Promise<readonly number[]> {
  const { combinations, size } = cube
  const last = Math.min(offset + limit, size ?? combinations)
  if (size === null || size >= combinations) return range(offset, last)
  const found: number[] = []
  let questions = 0
  for (let from = 0; from < combinations && found.length < last; from += AT_ONCE) {
    if (questions >= MOST_QUESTIONS) {
      const sentence =
        'The series of this table at Statistics Canada can only be listed from the first one on, page by page.'
      throw new ConnectorError('invalid_option', sentence)
    }
    const places = range(from, Math.min(from + AT_ONCE, combinations))
    const byCoordinate = new Map(places.map((place) => [coordinateOf(coordinateAt(cube, place)), place]))
    const json = [...byCoordinate.keys()].map((coordinate) => ({
      productId: Number(cube.product),
      coordinate,
    }))
    const request = { method: 'POST', path: ['getSeriesInfoFromCubePidCoord'], json } as const
    const existing = await cached(request, (answer) => {
      questions++
      if (answer.status >= 400) return undefined
      const known = list(parseJson(answer)).flatMap((item) => coordinateIn(record(item)['object']) ?? [])
      return known.flatMap((coordinate) => byCoordinate.get(coordinate) ?? []).sort((a, b) => a - b)
    })
    // Not every mirror of the service answers this question; without an answer the first combinations are returned.
    if (existing === undefined) return range(offset, last)
    found.push(...existing)
  }
  return found.slice(offset, last)
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
