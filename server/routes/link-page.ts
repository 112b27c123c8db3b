import type { FastifyReply, FastifyRequest } from 'fastify'
import { checkEncoding, FORMATS, type Format, type Query } from '../../engine/index.ts'
import { fromHttp, WRITING } from '../../engine/options.ts'
import { counted } from '../../engine/util/counted.ts'
import { type LinkPage, sendLinkPage, wantsPage } from '../http/link-page.ts'
import type { Services } from '../services.ts'
import type { LazyQuery } from '../transfers/download.ts'
import { encodingOf } from '../transfers/formats.ts'

/** The most rows of a page, and the most characters of one value. */
const MOST = { rows: 20, characters: 300 }

/** The link that a browser opens; undefined for everybody else, and where a key lets in whose link has ended. */
export async function openedLink({ links }: Pick<Services, 'links'>, request: FastifyRequest) {
  return wantsPage(request) ? links.opened(request.url) : undefined
}

/**
 * Answers a browser that opens a link with a page: the first rows, and the same rows in each format.
 * @param query the rows that the link opens
 * @param facts what they are, unless the link has a name
 */
export async function answerLink(
  { exports }: Pick<Services, 'exports'>,
  request: FastifyRequest,
  reply: FastifyReply,
  { name, expiresAt, sameFor }: NonNullable<Awaited<ReturnType<typeof openedLink>>>,
  query: LazyQuery,
  facts: Pick<LinkPage, 'title' | 'description'>,
): Promise<FastifyReply> {
  const path = request.url.split('?', 1)[0]!
  const options = request.query as Readonly<Record<string, unknown>>
  const downloads = FORMATS.filter((format) => isWritable(format, options)).map((format) => ({
    format,
    url: `${sameFor(`${path}?${search({ ...options, $format: format })}`)}&download=true`,
  }))
  const rows = await exports.run(request, reply, query, firstRows)
  return sendLinkPage(reply, {
    ...facts,
    ...(name !== null && { title: name }),
    ...rows,
    downloads,
    expiresAt,
  })
}

async function firstRows(query: Query, signal: AbortSignal) {
  const { columns } = query.plan
  const rows: (string | null)[][] = []
  for await (const row of query.rows({ signal })) {
    rows.push(columns.map(({ name }) => shown(row[name])))
    if (rows.length === MOST.rows) break
  }
  const { knownRowCount } = query
  // Fewer rows than there is room for are all.
  const rowCount = rows.length < MOST.rows ? rows.length : knownRowCount && query.resultRows(knownRowCount)
  return { columns, rows, rowCount }
}

function shown(value: unknown): string | null {
  if (value === null) return null
  if (value instanceof Uint8Array) return counted(value.byteLength, 'byte')
  const text = String(value)
  return text.length > MOST.characters ? `${text.slice(0, MOST.characters)}…` : text
}

/** Whether the options for writing that a link has fit another format. */
function isWritable(format: Format, options: Readonly<Record<string, unknown>>): boolean {
  try {
    checkEncoding(format, encodingOf(fromHttp(options, WRITING)))
    return true
  } catch {
    return false
  }
}

function search(options: Readonly<Record<string, unknown>>): string {
  return Object.entries(options)
    .map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)])
    .map((pair) => pair.map((text) => encodeURIComponent(text!)).join('='))
    .join('&')
}
