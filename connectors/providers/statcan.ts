import { statcanCalendar } from '../calendars/statcan.ts'
import type {
  Category,
  Connector,
  ConnectorContext,
  Page,
  SeriesDimension,
  SeriesInfo,
  SeriesPage,
  SeriesRange,
  UpstreamAnswer,
  UpstreamRequest,
} from '../connector.ts'
import { category, providerInfo, rate } from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import { absent, Failure, malformed, notUnderstood } from '../failures.ts'
import { addDays, isoDate } from '../periods.ts'
import type { JsonRecord } from '../read.ts'
import {
  firstText,
  isRecord,
  list,
  number,
  openBody,
  optional,
  POWERS,
  parseJson,
  record,
  records,
  text,
  timesTenTo,
} from '../read.ts'

/** Number of periods requested without a range. If a series has that many, the rest is requested by dates. */
const LATEST = 6000
const BEFORE_ALL = '1800-01-01'
/** Coordinates always have ten places, one per dimension. */
const PLACES = 10

/** Number of coordinates in one request. */
const AT_ONCE = 300
/** The most requests for one page of a list. */
const MOST_QUESTIONS = 30

/** https://www.statcan.gc.ca/en/developers/wds/user-guide: subjects by the first two digits of a table's number. */
const SUBJECTS: Readonly<Record<string, string>> = {
  10: 'Government',
  11: 'Income, pensions, spending and wealth',
  12: 'International trade',
  13: 'Health',
  14: 'Labour',
  16: 'Manufacturing',
  17: 'Population and demography',
  18: 'Prices and price indexes',
  20: 'Retail and wholesale',
  21: 'Business performance and ownership',
  22: 'Digital economy and society',
  23: 'Transportation',
  24: 'Travel and tourism',
  25: 'Energy',
  27: 'Science and technology',
  32: 'Agriculture and food',
  33: 'Business and consumer services and culture',
  34: 'Construction',
  35: 'Crime and justice',
  36: 'Economic accounts',
  37: 'Education, training and learning',
  38: 'Environment',
  39: 'Families, households and marital status',
  41: 'Indigenous peoples',
  43: 'Immigration and ethnocultural diversity',
  45: 'Society and community',
  46: 'Housing',
}

/** Frequency codes of getCodeSets, without those that aren't calendar periods. */
const FREQUENCIES: Readonly<Record<string, string>> = {
  1: 'daily',
  2: 'weekly',
  4: 'biweekly',
  6: 'monthly',
  7: 'bimonthly',
  9: 'quarterly',
  10: 'four-monthly',
  11: 'semiannual',
  12: 'annual',
}

/**
 * A path is a subject, `18`, or a table in it, `18/18100004`. A series id is a vector, `v41690973`, or a table and a
 * coordinate in it, `18100004/2.2`: one member of each dimension.
 */
export const statcan: Connector = {
  info: providerInfo({
    slug: 'statcan',
    name: 'Statistics Canada',
    description: 'The tables of Statistics Canada.',
    homepage: 'https://www.statcan.gc.ca/en/developers/wds',
    baseUrl: 'https://www150.statcan.gc.ca/t1/wds/rest',
    limits: { windows: [rate(25, 1)] },
  }),
  freshSeconds: 3600,
  calendar: statcanCalendar,

  at(path, context) {
    const [, subject, product] = /^(?:(\d{2})(?:\/(\d+))?)?$/.exec(path) ?? [undefined]
    if (path !== '' && subject === undefined) throw absent()
    if (product !== undefined) return { series: (page) => listCube(product, page, context) }
    return {
      categories: async () => {
        const cubes = await cubesOf(context)
        if (subject !== undefined) {
          const own = cubes.filter((cube) => subjectsOf(cube).includes(subject))
          return own.map((cube) => asCategory(subject, cube))
        }
        const codes = [...new Set(cubes.flatMap(subjectsOf))].sort()
        return codes.map((code) => category(code, SUBJECTS[code] ?? `Subject ${code}`, '', false))
      },
    }
  },

  async catalogue(context) {
    const cubes = await cubesOf(context)
    return { series: [], categories: cubes.map((cube) => asCategory(subjectsOf(cube)[0] ?? '', cube)) }
  },

  async series(id, range, context) {
    const object = await dataOf(id, range, context)
    if (object['vectorDataPoint'] === undefined) throw notUnderstood('vectorDataPoint is missing')
    const points = records(object['vectorDataPoint'])
    // Only within a range may there be none.
    if (points.length === 0 && !range.start && !range.end) throw absent('It has no points.')
    const frequency = FREQUENCIES[text(points.at(-1)?.['frequencyCode']) ?? ''] ?? null
    const product = text(object['productId'])
    const cube = product === null ? undefined : await optional(cubeOf(product, context))
    const coordinate = text(object['coordinate']) ?? ''
    const name = firstText(object, 'SeriesTitleEn', 'seriesTitleEn')
    const dimensions = cube === undefined ? [] : dimensionsAt(cube, coordinate)
    const labels = dimensions.map(({ label }) => label).join('; ')
    const codes = await codeSets(context)
    const unitCode =
      text(object['memberUomCode']) ?? dimensions.find(({ unit }) => unit !== null)?.unit ?? null
    const released = points.flatMap((point) => text(point['releaseTime']) ?? [])
    const powerOf = (point: JsonRecord = {}) =>
      number(point['scalarFactorCode'] ?? object['scalarFactorCode']) ?? 0
    const power = powerOf(points.at(-1))
    return {
      name: name ?? [cube?.title ?? id, labels].filter((part) => part !== '').join(': '),
      frequency: frequency ?? FREQUENCIES[cube?.frequencyCode ?? ''] ?? null,
      unit: [unitName(codes, unitCode), POWERS[power]].filter((part) => part != null).join(', ') || null,
      source: cube?.title ?? null,
      dimensions: dimensions.length === 0 ? null : dimensions.map(({ unit, ...dimension }) => dimension),
      lastUpdated: released.sort().at(-1) ?? null,
      rows: points.map((point) => ({
        time: firstText(point, 'refPer', 'refPerRaw'),
        value: timesTenTo(powerOf(point) - power, point['value']),
        status: statusOf(codes, point),
      })),
    }
  },
}

function cubesOf({ cached }: ConnectorContext): Promise<readonly JsonRecord[]> {
  return cached({ path: ['getAllCubesListLite'] }, (answer) => {
    if (answer.status === 404) throw notUnderstood('the list of tables is missing')
    return records(bodyOf(answer))
  })
}

async function listCube(product: string, page: Page, context: ConnectorContext): Promise<SeriesPage> {
  const cube = await cubeOf(product, context)
  const frequency = FREQUENCIES[cube.frequencyCode] ?? null
  const places = await existingPlaces(cube, page, context)
  const codes = await codeSets(context)
  const series = places.map((place): SeriesInfo => {
    const members = membersAt(cube, place)
    return {
      series_id: `${cube.product}/${coordinateAt(cube, place)}`,
      name: members.map(({ name }) => name).join('; '),
      frequency,
      unit: unitName(codes, members.find(({ unit }) => unit !== null)?.unit ?? null),
      start: cube.start,
      end: cube.end,
    }
  })
  return { total: cube.size ?? cube.combinations, series }
}

async function dataOf(id: string, range: SeriesRange, { send }: ConnectorContext): Promise<JsonRecord> {
  const [, vector, product, coordinate] = /^(?:v?(\d+)|(\d+)\/(\d+(?:\.\d+){0,9}))$/i.exec(id) ?? []
  const ask = async (request: UpstreamRequest) => objectOf(await send(request))
  if (product !== undefined && coordinate !== undefined) {
    const item = { productId: Number(product), coordinate: coordinateOf(coordinate), latestN: LATEST }
    return ask({ method: 'POST', path: ['getDataFromCubePidCoordAndLatestNPeriods'], json: [item] })
  }
  if (vector === undefined)
    throw malformed('a vector, as v41690973, or a table and a coordinate, as 18100004/2.2')
  const byDates = () => {
    const query = {
      vectorIds: `"${vector}"`,
      startRefPeriod: range.start ?? BEFORE_ALL,
      endReferencePeriod: range.end ?? addDays(isoDate(Date.now()), 366),
    }
    return ask({ path: ['getDataFromVectorByReferencePeriodRange'], query })
  }
  if (range.start !== undefined || range.end !== undefined) return byDates()
  const item = { vectorId: Number(vector), latestN: LATEST }
  const latest = await ask({ method: 'POST', path: ['getDataFromVectorsAndLatestNPeriods'], json: [item] })
  return list(latest['vectorDataPoint']).length < LATEST ? latest : byDates()
}

function cubeOf(product: string, { cached }: ConnectorContext): Promise<Cube> {
  const request = {
    method: 'POST',
    path: ['getCubeMetadata'],
    json: [{ productId: Number(product) }],
  } as const
  return cached(request, (answer) => readCube(objectOf(answer)))
}

/** The provider's lists of codes; `{}` if they can't be had, since a series is useful without them. */
async function codeSets({ cached }: ConnectorContext): Promise<JsonRecord> {
  return (await optional(cached({ path: ['getCodeSets'] }, (answer) => objectOf(answer)))) ?? {}
}

function unitName(codes: JsonRecord, code: string | null): string | null {
  const found = records(codes['uom']).find((unit) => code !== null && text(unit['memberUomCode']) === code)
  return found === undefined ? null : text(found['memberUomEn'])
}

/** The meaning of a point's codes; 0 in either list means nothing special. */
function statusOf(codes: JsonRecord, point: JsonRecord): string | undefined {
  const words = (['status', 'symbol'] as const).flatMap((kind) => {
    const code = text(point[`${kind}Code`])
    if (code === null || code === '0') return []
    const found = records(codes[kind]).find((each) => text(each[`${kind}Code`]) === code)
    const word = text(found?.[`${kind}DescEn`])?.toLowerCase()
    return word === 'preliminary' ? 'provisional' : (word ?? [])
  })
  return words.length === 0 ? undefined : words.join(', ')
}

function bodyOf(answer: UpstreamAnswer) {
  // Tables are locked while they are being released, in the morning.
  if (answer.status === 409) throw new Failure('publishing')
  if (answer.status === 406) throw absent()
  return openBody(answer)
}

/** Each `responseStatusCode` by `wdsResponseStatus` of getCodeSets: invalid requests, failures, a table being released. */
const CODES = { 'no-results': [1, 2, 4, 5], failing: [3, 7], publishing: [6] } as const

/**
 * The first `object` of `[{status, object}]`. If the item failed, `object` is a sentence, or has a code above 0, which
 * items that call themselves a success have as well.
 */
function objectOf(answer: UpstreamAnswer): JsonRecord {
  const object = records(bodyOf(answer))[0]?.['object']
  if (!isRecord(object)) throw absent()
  const code = number(object['responseStatusCode']) ?? 0
  if (code === 0) return object
  const kinds = ['no-results', 'failing', 'publishing'] as const
  const kind = kinds.find((one) => (CODES[one] as readonly number[]).includes(code)) ?? 'unreadable'
  throw new Failure(kind, { what: `responseStatusCode ${code}` })
}

function subjectsOf(cube: JsonRecord): readonly string[] {
  const codes = list(cube['subjectCode'])
  const all = codes.length === 0 ? [cube['subjectCode'] ?? null] : codes
  const subjects = all.flatMap((code) => text(code)?.slice(0, 2) ?? [])
  return subjects.length === 0 ? [text(cube['productId'])?.slice(0, 2) ?? ''] : [...new Set(subjects)]
}

function asCategory(subject: string, cube: JsonRecord): Category {
  const product = text(cube['productId']) ?? ''
  const span = [text(cube['cubeStartDate']), text(cube['cubeEndDate'])].filter((day) => day !== null)
  const frequency = FREQUENCIES[text(cube['frequencyCode']) ?? '']
  const description = [frequency, span.join(' to ')].filter(Boolean).join(', ')
  const name = firstText(cube, 'cubeTitleEn', 'cubeTitleFr') ?? product
  return category(`${subject}/${product}`, name, description)
}

/** A table of Statistics Canada. Its combinations of members are series, all of them or only some. */
type Cube = ReturnType<typeof readCube>
type Member = Cube['dimensions'][number]['members'][number]

function readCube(object: JsonRecord) {
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

/** The full form of a coordinate, with 0 for dimensions that the table doesn't have. */
function coordinateOf(short: string): string {
  const places = short.split('.')
  return [...places, ...Array<string>(PLACES - places.length).fill('0')].join('.')
}

/** The dimensions with the members of a coordinate; members that the table doesn't have are left out. */
function dimensionsAt(cube: Cube, coordinate: string): readonly (SeriesDimension & Pick<Member, 'unit'>)[] {
  const ids = coordinate.split('.')
  return cube.dimensions.flatMap(({ id, name, members }, index) => {
    const member = members.find((each) => each.id === ids[index])
    return member === undefined ? [] : [{ id, name, code: member.id, label: member.name, unit: member.unit }]
  })
}

/**
 * The positions of the series from `offset` to `offset + limit`, in the order of combinations. If a table has fewer
 * series than combinations, its metadata don't say which are missing, so the service is asked about them, beginning
 * with the first. Its answers are cached, so reading page after page asks only once for each combination.
 */
async function existingPlaces(
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
