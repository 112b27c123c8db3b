import type { FastifyReply } from 'fastify'
import {
  type ColumnType,
  EngineError,
  type ODataJson,
  type PastVersion,
  pastVersion,
  type Query,
  type Snapshot,
  type View,
} from '../../engine/index.ts'
import { fromHttp, type ParametersOf, QUERY, VERSION } from '../../engine/options.ts'
import { counted } from '../../engine/util/counted.ts'
import { malformed, ODataError } from './errors.ts'
import { type EntitySet, edmType, KEY, propertiesOf, typeName } from './model.ts'
import { contextHead, type Exchange, type JsonRequest, jsonContentType } from './negotiate.ts'

export async function answerEntity(
  exchange: Exchange,
  set: EntitySet,
  key: number,
  options: RowOptions,
): Promise<FastifyReply> {
  const dataset = await exchange.services.engine.dataset(set.datasetId)
  const by = String(exchange.request.account.id)
  using snapshot = await dataset.snapshot(versionIn(options), { by })
  const { text, projection } = await readRow(exchange, set, snapshot, key, options)
  const head = contextHead(exchange, `${encodeURIComponent(set.name)}${projection}/$entity`)
  return exchange.reply.type(jsonContentType(exchange.json, false)).send(head + text.slice(1))
}

/** Answers with one value, in JSON or, for `$value`, as text. 204 if it is null (Protocol 4.01, 11.2.4). */
export async function answerProperty(
  exchange: Exchange,
  set: EntitySet,
  { key, property, raw }: { readonly key: number; readonly property: string; readonly raw: boolean },
): Promise<FastifyReply> {
  const { reply, json } = exchange
  const bare: Exchange = { ...exchange, json: { ...json, metadata: 'none' } }
  const dataset = await exchange.services.engine.dataset(set.datasetId)
  const by = String(exchange.request.account.id)
  using snapshot = await dataset.snapshot(undefined, { by })
  const type = propertyType(set, snapshot, property)
  const { text } = await readRow(bare, set, snapshot, key, { $select: property })
  const value = text.slice(`{${JSON.stringify(property)}:`.length, -1)
  if (value === 'null') return reply.code(204).send()
  if (raw) {
    const plain = value.startsWith('"') ? (JSON.parse(value) as string) : value
    return type === 'Edm.Binary'
      ? reply.type('application/octet-stream').send(Buffer.from(plain, 'base64url'))
      : reply.type('text/plain;charset=utf-8').send(plain)
  }
  const head = contextHead(
    exchange,
    `${encodeURIComponent(set.name)}(${key})/${encodeURIComponent(property)}`,
  )
  return reply.type(jsonContentType(json, false)).send(`${head}"value":${value}}`)
}

/** @throws ODataError `notFound` if the set has no such property */
function propertyType(set: EntitySet, { columns }: Snapshot, name: string): string {
  if (name === KEY) return 'Edm.Int64'
  const property = propertiesOf(columns).find((one) => one.name === name)
  if (property) return property.type.name
  throw new ODataError('notFound', `${set.name} has no property ${JSON.stringify(name)}.`)
}

/** The most bytes of a single row, which is read into memory. */
const MOST_BYTES = 64 * 2 ** 20

/**
 * Reads one row as a JSON object. The key is the position of the row, so no other row is read.
 * @throws ODataError `notFound` if the dataset has fewer rows, `tooLarge`
 */
async function readRow(
  { services: { exports }, request, reply, json }: Exchange,
  set: EntitySet,
  snapshot: Snapshot,
  key: number,
  given: RowOptions,
): Promise<{ text: string; projection: string }> {
  const { rowCount } = snapshot
  const none = () =>
    new ODataError(
      'notFound',
      `${set.name} has no row ${key}${rowCount === undefined ? '' : `; it has ${counted(rowCount, 'row')}`}.`,
    )
  if (key < 1 || key > (rowCount ?? key)) throw none()
  const options = { ...given, $skip: key - 1, $top: 1 }
  const { query, odata, projection } = entityQuery(set, snapshot, options, json)
  const download = {
    query: { open: () => query },
    format: 'json',
    name: set.title,
    metered: true,
    odata,
  } as const
  const bytes = await exports.read(request, reply, download, MOST_BYTES)
  if (bytes.length > MOST_BYTES) {
    // In a string of JSON, quotes are escaped, so this is the name before the value that exceeds the limit.
    const read = bytes.subarray(0, MOST_BYTES)
    const last = query.plan.columns.findLast(({ name }) => read.includes(`${JSON.stringify(name)}:`))
    throw new ODataError(
      'tooLarge',
      `Row ${key} of ${set.name} has more than ${MOST_BYTES / 2 ** 20} MiB, most of them probably in ${last?.name}. ` +
        'Leave that property out with $select, or read the row from the entity set.',
      last?.name,
    )
  }
  // A saved query's rows are not counted before.
  if (bytes.length < '[{}]\n'.length) throw none()
  // Removes the brackets of the array around the row.
  return { text: bytes.toString('utf8').slice('['.length, -']\n'.length), projection }
}

/** The options for rows. OData has no `$last`. */
export const { last: _, ...OF_ROWS } = QUERY

export type RowOptions = ParametersOf<typeof OF_ROWS & typeof VERSION>

/** The version that the options mean; undefined for the current one. @throws EngineError `invalid_option` */
export function versionIn(options: RowOptions): PastVersion | undefined {
  return pastVersion(fromHttp(options, VERSION))
}

export interface EntityQuery {
  readonly query: Query
  /** Options of the JSON encoder. */
  readonly odata: ODataJson
  /** The part of the context URL that lists the columns (Protocol 4.01, 10.8): empty, or `(a,b)`. */
  readonly projection: string
}

const ENTITY_ID = '@odata.id'

/**
 * Prepares a query on one version of a dataset, using the property names that `$metadata` declares. The caller disposes
 * the query.
 * @throws EngineError if an option is wrong
 */
export function entityQuery(
  set: EntitySet,
  snapshot: Snapshot,
  options: RowOptions,
  json: JsonRequest,
): EntityQuery {
  const names = propertiesOf(snapshot.columns).map(({ name }) => name)
  const declared = options.$apply === undefined ? [KEY, ...names] : []
  // The results of `$apply` are not entities, so they have no id.
  const withIds = json.metadata === 'full' && options.$apply === undefined
  const view: View = { names, rowNumbers: withIds ? [KEY, ENTITY_ID] : [KEY] }
  const selected = selection(options.$select, declared)
  const columns =
    selected ?? (options.$apply === undefined && options.$compute === undefined ? declared : undefined)
  const select = withIds && columns ? [ENTITY_ID, ...columns] : columns
  const query = namingProperties(snapshot, names, () =>
    snapshot.query({ ...fromHttp(options, OF_ROWS), select }, view),
  )
  const alias = addedNames(query.plan.steps).find((name) => name === KEY || names.includes(name))
  if (alias !== undefined) {
    query[Symbol.dispose]()
    throw malformed(
      `${alias} is the name of a property. Choose another name for what is calculated.`,
      '$apply',
    )
  }
  const shown = query.plan.columns.filter(({ name }) => name !== ENTITY_ID)
  const typed = shown.filter(
    ({ name }) => json.metadata === 'full' || (json.metadata === 'minimal' && !declared.includes(name)),
  )
  return {
    query,
    odata: {
      ieee754: json.ieee754,
      before: new Map([
        ...typed.flatMap(({ name, type }) => typeAnnotation(name, type)),
        ...(withIds ? [[ENTITY_ID, member('@odata.type', `#${typeName(set)}`)] as const] : []),
      ]),
      ...(withIds && { within: new Map([[ENTITY_ID, [`${set.name}(`, ')'] as const]]) }),
    },
    projection:
      selected || options.$apply !== undefined ? `(${shown.map(({ name }) => name).join(',')})` : '',
  }
}

/** Runs `work`; an error about the name of a column says by which name the property goes here. */
function namingProperties<T>({ columns }: Snapshot, names: readonly string[], work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    const { code, message, details } = error
    const renamed = columns.flatMap(({ name }, at) =>
      name !== names[at] && details?.columns?.includes(name)
        ? [`${JSON.stringify(name)} is called ${names[at]} here.`]
        : [],
    )
    if (renamed.length === 0) throw error
    throw new EngineError(code, [message, ...renamed.slice(0, 5)].join(' '), { details })
  }
}

/** The names that transformations give. None may be that of a property (Data Aggregation 4.0, 3.1.1). */
function addedNames(steps: Query['plan']['steps']): string[] {
  return steps.flatMap((step) => {
    if (step.kind === 'concat') return step.branches.flatMap((branch) => addedNames(branch.steps))
    return step.kind === 'group' || step.kind === 'compute' ? step.added.map(({ name }) => name) : []
  })
}

/** The names in `$select`, with `*` replaced by all declared properties; undefined if the client makes no choice. */
function selection(text: string | undefined, declared: readonly string[]): string[] | undefined {
  const names = text?.split(',').map((item) => item.trim())
  if (names === undefined || (names.length === 1 && names[0] === '*')) return undefined
  return [...new Set(names.flatMap((name) => (name === '*' ? declared : [name])))]
}

/** Types that need no annotation because the JSON value shows them (JSON Format 4.01, 4.6.3). */
const TOLD_BY_JSON: ReadonlySet<string> = new Set(['Edm.String', 'Edm.Boolean', 'Edm.Double'])

function typeAnnotation(name: string, type: ColumnType): [name: string, json: string][] {
  const edm = edmType(type).name
  return TOLD_BY_JSON.has(edm) ? [] : [[name, member(`${name}@odata.type`, `#${edm.slice('Edm.'.length)}`)]]
}

function member(name: string, value: string): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)},`
}
