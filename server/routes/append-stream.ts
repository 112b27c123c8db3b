import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Upload } from '../../engine/index.ts'
import { CHANGE, fromHttp, UPLOADING } from '../../engine/options.ts'
import { SMALL_BYTES } from '../../engine/store/groups.ts'
import { checkOptions } from '../../engine/types/known-options.ts'
import { counted } from '../../engine/util/counted.ts'
import { shownTo } from '../http/answer-errors.ts'
import { errorAnswer, ServerError } from '../http/errors.ts'
import type { Outcome } from '../http/metrics.ts'
import type { Services } from '../services.ts'
import { CHECK_MS } from '../transfers/change-streams.ts'
import { FORMAT_FACTS, unsupported, uploadOptions, uploadType } from '../transfers/formats.ts'
import {
  COMMIT,
  inStream,
  readingOf,
  STREAMED,
  type StreamedFormat,
  type Stretch,
  stretchesOf,
} from '../transfers/stretches.ts'
import { slotInTurn, stopping, Transfer } from '../transfers/transfer.ts'
import { bodyOf, tooSlow } from '../transfers/uploads.ts'
import { rowsChange } from './routes.ts'

/** How rows come to those that are there, and when they are committed. */
interface Appending extends Pick<Upload, 'on'> {
  readonly mode: 'append' | 'upsert'
  readonly commit: string
}

/**
 * Appends the rows of a body while it comes, and gives a line of JSON for each commit. What is wrong with the first rows is
 * thrown; what is wrong with later ones is the last line.
 */
export async function appendStream(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  { commit, ...how }: Appending,
): Promise<Readable> {
  checkOptions({ commit }, COMMIT)
  for (const name of ['if-match', 'idempotency-key']) {
    if (request.headers[name] === undefined) continue
    throw new ServerError('bad_request', `${name} is for one commit; with commit=, there are many.`)
  }
  const format = streamedType(request)
  const { record } = await rowsChange(request, services)
  const given = { ...how, ...uploadOptions(fromHttp(request.query as object, UPLOADING)), format }
  const options = readingOf(record.uploadOptions, given)
  const stream = new AppendStream(services, request, reply, given)
  try {
    await stream.begin()
    const lines = stream.lines(stretchesOf(stream.body.chunks, { format, options, commit }))
    const first = await lines.next()
    reply.headers({ 'content-type': FORMAT_FACTS.ndjson.contentType, 'cache-control': 'no-store' })
    // A proxy must not wait for more.
    reply.header('x-accel-buffering', 'no')
    return Readable.from(first.done ? [] : following(first.value, lines), { objectMode: false })
  } catch (error) {
    throw stream.transfer.reason ?? error
  }
}

async function* following<Item>(first: Item, others: AsyncIterable<Item>): AsyncGenerator<Item> {
  yield first
  yield* others
}

/** @throws ServerError `unsupported_media_type` */
function streamedType({ headers }: FastifyRequest): StreamedFormat {
  const { format, gzip, encoding } = uploadType(headers)
  const known = STREAMED.find((one) => one === format)
  if (known && !gzip && !encoding) return known
  const types = STREAMED.map((one) => FORMAT_FACTS[one].contentType.replace(/;.*/, ''))
  throw unsupported(
    `With commit=, the body has the Content-Type ${types.join(' or ')}, in UTF-8 and without Content-Encoding.`,
  )
}

type Given = Omit<Appending, 'commit'> &
  ReturnType<typeof uploadOptions> & { readonly format: StreamedFormat }

/** The rows of one request on their way. While none come, it only has the place of a stream. */
class AppendStream {
  readonly transfer: Transfer
  readonly body: ReturnType<typeof bodyOf>
  readonly #services: Services
  readonly #request: FastifyRequest
  readonly #given: Given
  #outcome: Outcome = 'failed'
  /** Whether rows are being committed, for which the client may wait. */
  #isSaving = false

  constructor(services: Services, request: FastifyRequest, reply: FastifyReply, given: Given) {
    this.#services = services
    this.#request = request
    this.#given = given
    this.transfer = new Transfer(request, reply, services)
    this.transfer.onClose(() =>
      services.metrics.uploadEnded(given.format, this.#outcome, request.trace.bytes ?? 0),
    )
    this.body = bodyOf(this.transfer)
  }

  /** Waits for a place. Ends the stream later when nothing moves, or when the server is being stopped. */
  async begin(): Promise<void> {
    const { transfer, body } = this
    const { changeStreams, lifecycle, config } = this.#services
    const { raw } = transfer.reply
    await transfer.enter(changeStreams.slots)
    const limit = config.timeouts.idle
    const onStall = () => {
      if (raw.writableNeedDrain) raw.destroy()
      else
        body.end(
          tooSlow(`No data of the body has arrived for ${counted(limit / 1000, 'second')}.`, NOT_COMMITTED),
        )
    }
    const clientOwes = () => (!this.#isSaving && body.clientOwes()) || raw.writableNeedDrain
    transfer.watch(clientOwes, onStall, limit)
    const timer = setInterval(() => lifecycle.leaving && body.end(stopping()), CHECK_MS).unref()
    transfer.onClose(() => clearInterval(timer))
  }

  async *lines(stretches: AsyncIterable<Stretch>): AsyncGenerator<Buffer, void, undefined> {
    const { transfer } = this
    const request = this.#request
    let total = 0
    try {
      for await (const stretch of stretches) {
        const isFirst = total === 0
        this.#isSaving = true
        const { version } = await this.#append(stretch, isFirst).catch((error: unknown) => {
          throw inStream(error, stretch)
        })
        this.#isSaving = false
        total += stretch.rows
        yield lineOf({ version, rows: stretch.rows, total })
      }
      this.#outcome = 'whole'
    } catch (error) {
      this.#outcome = transfer.stalled ? 'stalled' : request.raw.aborted ? 'left' : 'failed'
      if (total === 0 || transfer.signal.aborted) throw error
      const { status, body } = errorAnswer(shownTo(request, error))
      this.#services.metrics.refused(body.code)
      if (status === 500) request.log.error({ err: error }, 'a stream of rows failed')
      yield lineOf(body)
    } finally {
      this.body.end()
    }
  }

  /** Commits rows as a request of their own would. */
  async #append({ bytes }: Stretch, isFirst: boolean) {
    const { uploads, lifecycle } = this.#services
    const { signal } = this.transfer
    const request = this.#request
    if (lifecycle.leaving) throw stopping()
    if (!isFirst) {
      await request.requireStillIn()
      await request.countAgain()
    }
    const { dataset, accept } = await rowsChange(request, this.#services)
    const slots = bytes.length > SMALL_BYTES ? uploads.slots : uploads.smallSlots
    using _slot = await slotInTurn(slots, request.account.id, signal)
    const { mode, ...upload } = this.#given
    const { note } = fromHttp(request.query as object, CHANGE)
    return dataset[mode]({
      ...upload,
      body: bytes,
      by: request.account.name,
      note,
      signal,
      accept: accept((_t, make) => make()),
    })
  }
}

const NOT_COMMITTED = 'Rows that no line has confirmed were not saved.'

function lineOf(line: object): Buffer {
  return Buffer.from(`${JSON.stringify(line)}\n`)
}
