import type { FastifyReply } from 'fastify'
import { entityQuery, type RowOptions, versionIn } from './entity-query.ts'
import { ODataError } from './errors.ts'
import { type Backend, contextHead, type Exchange } from './exchange.ts'
import { type EntitySet, KEY, propertiesOf } from './metadata/model.ts'
import { jsonContentType } from './negotiate.ts'

/** Answers with one row. */
export async function answerEntity(
  backend: Backend,
  exchange: Exchange,
  set: EntitySet,
  key: number,
  { $select, $compute, aliases, $version, asOf }: RowOptions,
): Promise<FastifyReply> {
  const options = { $select, $compute, aliases, $version, asOf }
  const { text, projection } = await readRow(backend, exchange, set, key, options)
  const head = contextHead(exchange, `${encodeURIComponent(set.name)}${projection}/$entity`)
  return exchange.reply.type(jsonContentType(exchange.json, false)).send(head + text.slice(1))
}

/** Answers with one value, in JSON or, for `$value`, as text. 204 if it is null (Protocol 4.01, 11.2.4). */
export async function answerProperty(
  backend: Backend,
  exchange: Exchange,
  set: EntitySet,
  { key, property, raw }: { readonly key: number; readonly property: string; readonly raw: boolean },
): Promise<FastifyReply> {
  const { reply, json } = exchange
  const bare: Exchange = { ...exchange, json: { ...json, metadata: 'none' } }
  const type = await propertyType(backend, set, property)
  const { text } = await readRow(backend, bare, set, key, { $select: property })
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
async function propertyType({ engine }: Backend, set: EntitySet, name: string): Promise<string> {
  if (name === KEY) return 'Edm.Int64'
  const { columns } = await (await engine.dataset(set.datasetId)).record()
  const property = propertiesOf(columns).find((one) => one.name === name)
  if (property) return property.type.name
  throw new ODataError('notFound', `${set.name} has no property ${JSON.stringify(name)}.`)
}

/**
 * Reads one row as a JSON object. The key is the position of the row, so no other row is read.
 * @throws ODataError `notFound` if the dataset has fewer rows
 */
async function readRow(
  { engine, exports }: Backend,
  { request, reply, json }: Exchange,
  set: EntitySet,
  key: number,
  asked: RowOptions,
): Promise<{ text: string; projection: string }> {
  using snapshot = await (await engine.dataset(set.datasetId)).snapshot(versionIn(asked))
  const { rowCount } = snapshot
  const none = () =>
    new ODataError(
      'notFound',
      `${set.name} has no row ${key}${rowCount === undefined ? '' : `; it has ${rowCount} rows`}.`,
    )
  if (key < 1 || key > (rowCount ?? key)) throw none()
  const options = { ...asked, $skip: key - 1, $top: 1 }
  const { query, odata, projection } = entityQuery(set, snapshot, options, json)
  const bytes = await exports.read(request, reply, {
    query,
    window: {},
    format: 'json',
    name: set.title,
    meteredRows: rowCount ?? 0,
    odata,
  })
  // A saved query's rows are not counted before.
  if (bytes.length < '[{}]\n'.length) throw none()
  // Removes the brackets of the array around the row.
  return { text: bytes.toString('utf8').slice('['.length, -']\n'.length), projection }
}
