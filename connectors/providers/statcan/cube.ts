import type { SeriesInfo } from '../../connector.ts'
import { firstText, type JsonRecord, number, records, text } from '../../read.ts'

/** A table of Statistics Canada: a series for each combination of members. */
export interface Cube {
  readonly product: string
  readonly title: string
  readonly frequencyCode: string
  readonly start: string | null
  readonly end: string | null
  readonly dimensions: readonly (readonly Member[])[]
  /** How many combinations there are; not each has data. */
  readonly size: number
}

export interface Member {
  readonly id: string
  readonly name: string
  /** Code of the unit of measure, in the one dimension that has them. */
  readonly unit: string | null
}

/** Coordinates have a place for each of ten dimensions. */
const PLACES = 10

export function readCube(object: JsonRecord): Cube {
  const position = (dimension: JsonRecord) => number(dimension['dimensionPositionId']) ?? 0
  const dimensions = records(object['dimension'])
    .toSorted((a, b) => position(a) - position(b))
    .map((dimension) =>
      records(dimension['member']).map((member) => ({
        id: text(member['memberId']) ?? '',
        name: firstText(member, 'memberNameEn', 'memberNameFr') ?? '',
        unit: text(member['memberUomCode']),
      })),
    )
  const product = text(object['productId']) ?? ''
  return {
    product,
    title: firstText(object, 'cubeTitleEn', 'cubeTitleFr') ?? product,
    frequencyCode: text(object['frequencyCode']) ?? '',
    start: text(object['cubeStartDate']),
    end: text(object['cubeEndDate']),
    dimensions,
    size: dimensions.length === 0 ? 0 : dimensions.reduce((size, members) => size * members.length, 1),
  }
}

/** The series at a place in the order of combinations: the last dimension changes first. */
export function seriesAt(cube: Cube, place: number, frequency: string | null): SeriesInfo {
  const members: Member[] = []
  let rest = place
  for (const dimension of cube.dimensions.toReversed()) {
    members.unshift(dimension[rest % dimension.length]!)
    rest = Math.floor(rest / dimension.length)
  }
  return {
    series_id: `${cube.product}/${members.map(({ id }) => id).join('.')}`,
    name: members.map(({ name }) => name).join('; '),
    frequency,
    unit: null,
    start: cube.start,
    end: cube.end,
  }
}

/** The full form of a coordinate, with 0 for dimensions that the table doesn't have. */
export function coordinateOf(short: string): string {
  const places = short.split('.')
  return [...places, ...Array<string>(PLACES - places.length).fill('0')].join('.')
}

export function memberAt(cube: Cube, coordinate: string, dimension: number): Member | undefined {
  const id = coordinate.split('.')[dimension]
  return cube.dimensions[dimension]?.find((member) => member.id === id)
}

/** The table's title and the names of a coordinate's members. */
export function titleAt(cube: Cube, coordinate: string): string {
  const names = cube.dimensions.flatMap((_, index) => memberAt(cube, coordinate, index)?.name ?? [])
  return [cube.title, ...(names.length === 0 ? [] : [names.join('; ')])].join(': ')
}
