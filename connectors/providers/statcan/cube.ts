import type { SeriesDimension, SeriesInfo } from '../../connector.ts'
import { firstText, type JsonRecord, number, records, text } from '../../read.ts'

/** A table of Statistics Canada. Its combinations of members are series, all of them or only some. */
export interface Cube {
  readonly product: string
  readonly title: string
  readonly frequencyCode: string
  readonly start: string | null
  readonly end: string | null
  readonly dimensions: readonly Dimension[]
  /** How many combinations of members there are. */
  readonly combinations: number
  /** How many of the combinations are series; null if the provider doesn't say. */
  readonly size: number | null
}

export interface Dimension {
  readonly id: string
  readonly name: string | null
  readonly members: readonly Member[]
}

export interface Member {
  readonly id: string
  readonly name: string
  /** Code of the unit of measure; only one dimension has such codes. */
  readonly unit: string | null
}

/** Coordinates always have ten places, one per dimension. */
const PLACES = 10

export function readCube(object: JsonRecord): Cube {
  const position = (dimension: JsonRecord) => number(dimension['dimensionPositionId']) ?? 0
  const dimensions = records(object['dimension'])
    .toSorted((a, b) => position(a) - position(b))
    .map((dimension, index) => ({
      id: text(dimension['dimensionPositionId']) ?? String(index + 1),
      name: firstText(dimension, 'dimensionNameEn', 'dimensionNameFr'),
      members: records(dimension['member']).map((member) => ({
        id: text(member['memberId']) ?? '',
        name: firstText(member, 'memberNameEn', 'memberNameFr') ?? '',
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
    combinations: dimensions.length === 0 ? 0 : combinations,
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
export function coordinateAt(cube: Cube, place: number): string {
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
