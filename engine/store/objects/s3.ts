import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type * as Sdk from '@aws-sdk/client-s3'
import type { Upload } from '@aws-sdk/lib-storage'
import { Lazy } from '../../util/shared.ts'
import { nameOf, type S3Address, s3Requests } from './address.ts'
import { failure, ifThere, isBroken, isNamed, isStatus, MissingObject } from './failures.ts'
import { persistently, RETRIES } from './persistence.ts'

export interface S3Deadlines {
  /** Milliseconds to open a connection. */
  readonly connect: number
  /** Milliseconds without a byte in either direction. */
  readonly idle: number
  /** Milliseconds for a request and its answer with all attempts, and a second for each megabyte that is sent. */
  readonly request: number
}

interface StoredObject {
  readonly key: string
  readonly bytes: number
  /** Its ETag, without the quotes that not all stores write: another one after every change. */
  readonly tag: string
}

/** Requests to a store since the start, each attempt by itself. */
export interface RequestStats {
  readonly requests: number
  /** Those without an answer, and those that the store refused or could not serve. */
  readonly failedRequests: number
  /** Until the head of the answer, of all requests together. */
  readonly requestSeconds: number
}

/** The content of an object: a file, or bytes in memory. */
export type ObjectBody = { readonly file: string } | { readonly data: Uint8Array }

/** What a PUT depends on, in the SDK's words: that there is no such object, or that it has a certain tag. */
export type Condition = Pick<Sdk.PutObjectCommandInput, 'IfNoneMatch' | 'IfMatch'>
export const ONLY_NEW: Condition = { IfNoneMatch: '*' }

const DEADLINES: S3Deadlines = { connect: 2_000, idle: 5_000, request: 15_000 }
const SENT_IN_MS = 1_000 / 2 ** 20
const CONNECTIONS = 64
/** Larger objects are sent in pieces of this size. A piece that fails is sent again by itself. */
const PIECE_BYTES = 16 * 2 ** 20
/** How many pieces of one object are sent at once. Each is in memory. */
const PIECES_AT_ONCE = 4
/** The most pieces that S3 allows for an object (S3 User Guide, "multipart upload limits"). */
const MOST_PIECES = 10_000
const READ_BYTES = 2 ** 20

/**
 * Objects by their keys, in a bucket of Amazon's S3 or of a compatible store. Each object is written as a whole; those of
 * parts are never changed. Every call has a deadline and retries failures that may pass. If that does not help, it throws
 * EngineError `storage_unavailable`; if the signal is aborted, it throws the signal's reason.
 *
 * Each piece is sent with its MD5, and every such store compares it with the bytes that arrive, so that what is stored is
 * what was sent. (Not every store knows the newer checksums that the SDK uses by default.) The SDK finds the credentials
 * by itself: in the environment, in files, or from the machine's role.
 */
export class S3Store {
  /** Its address for operators: `s3://bucket/prefix`. */
  readonly name: string
  /** Whether it turned out to belong to another catalog, so that nothing is written or removed there. */
  isLost = false
  readonly requests = { requests: 0, failedRequests: 0, requestSeconds: 0 }
  readonly #address: S3Address
  readonly #deadlines: S3Deadlines
  readonly #connection = new Lazy(() => this.#connect())
  /** Whether to send conditions; false once the store has answered that it does not support them. */
  #conditional = true

  constructor(address: S3Address, deadlines: Partial<S3Deadlines> = {}) {
    this.#address = address
    this.#deadlines = { ...DEADLINES, ...deadlines }
    this.name = nameOf(address)
  }

  /**
   * Resolves when the store has received and checked the whole object. `there`: the condition was not met. A store that
   * does not support it overwrites.
   */
  async put(key: string, body: ObjectBody, given?: Condition): Promise<'stored' | 'there'> {
    const condition = this.#conditional ? given : undefined
    const conditional = condition !== undefined
    // A conflict with another upload of the same key passes: the next attempt finds the object of the other one.
    const isConflict = (error: unknown) => conditional && isStatus(error, 409)
    try {
      await persistently(() => this.#put(key, body, condition), isConflict)
      return 'stored'
    } catch (error) {
      if (conditional && isStatus(error, 412)) return 'there'
      if (conditional && isStatus(error, 501)) {
        this.#conditional = false
        return this.put(key, body, given)
      }
      throw failure(error)
    }
  }

  async #put(key: string, body: ObjectBody, condition: Condition | undefined): Promise<void> {
    const { client, Upload } = await this.#connection.get()
    const bytes = 'file' in body ? (await stat(body.file)).size : body.data.byteLength
    const abortController = new AbortController()
    const milliseconds = this.#deadlines.request + Math.ceil(bytes * SENT_IN_MS)
    const late = setTimeout(() => abortController.abort(), milliseconds)
    try {
      // If this fails, the store removes the pieces; if it is down by then, `endUploads` does so later.
      const upload = new Upload({
        client,
        abortController,
        partSize: Math.max(PIECE_BYTES, Math.ceil(bytes / MOST_PIECES)),
        queueSize: PIECES_AT_ONCE,
        params: {
          ...this.#at(key),
          ...condition,
          Body: 'file' in body ? createReadStream(body.file, { highWaterMark: READ_BYTES }) : body.data,
        },
      })
      await upload.done()
    } finally {
      clearTimeout(late)
    }
  }

  /**
   * Gives all bytes `from` (inclusive) to `to` (exclusive).
   * @param tag which the object must have
   * @throws MissingObject
   */
  async get(key: string, from: number, to: number, signal?: AbortSignal, tag?: string): Promise<Uint8Array> {
    const deadline = this.#deadline(signal)
    try {
      return await persistently(() => this.#get(key, from, to, deadline, tag), isBroken, deadline)
    } catch (error) {
      if (tag !== undefined && isStatus(error, 412))
        throw new MissingObject(key, { cause: error, isChanged: true })
      const isMissing = isStatus(error, 404) || isStatus(error, 416)
      if (!isMissing || isNamed(error, 'NoSuchBucket')) throw failure(error, signal)
      throw new MissingObject(key, { cause: error })
    }
  }

  async #get(
    key: string,
    from: number,
    to: number,
    signal: AbortSignal,
    tag: string | undefined,
  ): Promise<Uint8Array> {
    const range = `bytes=${from}-${to - 1}`
    const answer = await this.#send(
      (sdk) => new sdk.GetObjectCommand({ ...this.#at(key), Range: range, IfMatch: tag && `"${tag}"` }),
      signal,
    )
    // Not every store compares it.
    const isOther = tag !== undefined && tagOf(answer.ETag) !== tag
    const bytes = await answer.Body!.transformToByteArray()
    if (isOther) throw new MissingObject(key, { isChanged: true })
    // If an object ends before the range does, S3 answers with the bytes that exist.
    const whole = Number(answer.ContentRange?.split('/')[1])
    if (whole < to) throw new MissingObject(key)
    // The answer ended before all of it had arrived.
    if (bytes.byteLength !== to - from)
      throw new Error(`the store sent ${bytes.byteLength} of ${to - from} bytes`)
    return bytes
  }

  /** Gives a small object as a whole, and the tag of this version of it; undefined if it does not exist. */
  async read(key: string) {
    const deadline = this.#deadline()
    const read = async () => {
      const { Body, ETag = '' } = await this.#send((sdk) => new sdk.GetObjectCommand(this.#at(key)), deadline)
      return { data: await Body!.transformToByteArray(), tag: ETag }
    }
    return ifThere(persistently(read, isBroken, deadline))
  }

  /** The number of bytes of an object and its tag; undefined if it does not exist. */
  async head(key: string): Promise<Omit<StoredObject, 'key'> | undefined> {
    const found = await ifThere(this.#send((sdk) => new sdk.HeadObjectCommand(this.#at(key))))
    return found && { bytes: found.ContentLength ?? 0, tag: tagOf(found.ETag) }
  }

  /** The number of bytes of an object; undefined if it does not exist. */
  async size(key: string): Promise<number | undefined> {
    return (await this.head(key))?.bytes
  }

  /**
   * Removes an object; resolves also if it did not exist. One per request, because the request that deletes many needs a
   * checksum that not every store knows.
   */
  async remove(key: string): Promise<void> {
    await ifThere(this.#send((sdk) => new sdk.DeleteObjectCommand(this.#at(key))))
  }

  /** All objects whose keys begin with `prefix`, in no particular order. */
  async *list(prefix: string): AsyncGenerator<StoredObject, void, undefined> {
    const { Bucket, Key } = this.#at(prefix)
    for (let ContinuationToken: string | undefined; ; ) {
      const input = { Bucket, Prefix: Key, ContinuationToken }
      const listing = this.#send((sdk) => new sdk.ListObjectsV2Command(input))
      const page = await listing.catch((error: unknown) => {
        throw failure(error)
      })
      for (const { Key: key, Size: bytes = 0, ETag } of page.Contents ?? []) {
        yield { key: key!.slice(this.#address.prefix.length), bytes, tag: tagOf(ETag) }
      }
      if (!page.IsTruncated) return
      ContinuationToken = page.NextContinuationToken
    }
  }

  /** Aborts unfinished uploads that were begun before the given moment. Gives how many there were. */
  async endUploads(prefix: string, before: Date): Promise<number> {
    const { Bucket, Key: Prefix } = this.#at(prefix)
    let ended = 0
    try {
      // Reads one page only. Aborted uploads are not listed again, so the next call reaches the rest.
      const { Uploads = [] } = await this.#send(
        (sdk) => new sdk.ListMultipartUploadsCommand({ Bucket, Prefix }),
      )
      for (const { Key, UploadId, Initiated } of Uploads) {
        if (!Initiated || Initiated >= before) continue
        await this.#send((sdk) => new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId }))
        ended += 1
      }
    } catch (error) {
      // Some stores can't list unfinished uploads; those remove them by themselves.
      if (!isStatus(error, 404) && !isStatus(error, 501)) throw failure(error)
    }
    return ended
  }

  /**
   * Resolves if requests to it are answered, and if this process may write there.
   * @param _oldest how many milliseconds ago that may have been found
   */
  async answers(_oldest: number): Promise<void> {
    // Whether there is such an object doesn't matter.
    await this.size('catalog')
  }

  close(): void {
    void this.#connection.present().then((connection) => connection?.client.destroy())
  }

  /** The address of an object for other programs. */
  url(key: string): string {
    return `${this.name.replace(/\/$/, '')}/${key}`
  }

  #at(key: string) {
    return { Bucket: this.#address.bucket, Key: this.#address.prefix + key }
  }

  async #send<Input extends Sdk.ServiceInputTypes, Output extends Sdk.ServiceOutputTypes>(
    command: (sdk: typeof Sdk) => SentCommand<Input, Output>,
    signal: AbortSignal = this.#deadline(),
  ): Promise<Output> {
    const { sdk, client } = await this.#connection.get()
    return client.send(command(sdk), { abortSignal: signal })
  }

  #deadline(signal?: AbortSignal): AbortSignal {
    const deadline = AbortSignal.timeout(this.#deadlines.request)
    return signal ? AbortSignal.any([signal, deadline]) : deadline
  }

  async #connect(): Promise<Connection> {
    // Loaded only here, so that programs with rows in a folder do not spend time on it.
    const [sdk, { Upload }] = await Promise.all([
      import('@aws-sdk/client-s3'),
      import('@aws-sdk/lib-storage'),
    ])
    const { endpoint, region, pathStyle = false } = s3Requests(this.#address)
    const { connect, idle } = this.#deadlines
    const client = new sdk.S3Client({
      forcePathStyle: pathStyle,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      retryStrategy: RETRIES,
      requestHandler: {
        connectionTimeout: connect,
        socketTimeout: idle,
        httpAgent: { keepAlive: true, maxSockets: CONNECTIONS },
        httpsAgent: { keepAlive: true, maxSockets: CONNECTIONS },
      },
      ...(endpoint !== undefined && { endpoint }),
      ...(region !== undefined && { region }),
    })
    client.middlewareStack.add(
      (next) => (args) => {
        const { input } = args
        if (!('Body' in input && input.Body instanceof Uint8Array)) return next(args)
        // RFC 1864. Of a large object, these are the bytes of one piece.
        const ContentMD5 = createHash('md5').update(input.Body).digest('base64')
        return next({ ...args, input: { ...input, ContentMD5 } })
      },
      { step: 'initialize' },
    )
    client.middlewareStack.add((next) => (args) => this.#counted(() => next(args)), {
      step: 'finalizeRequest',
      priority: 'low',
    })
    return { sdk, client, Upload }
  }

  async #counted<T>(request: () => Promise<T>): Promise<T> {
    const begun = performance.now()
    this.requests.requests += 1
    try {
      return await request()
    } catch (error) {
      if (!ANSWERS.some((status) => isStatus(error, status))) this.requests.failedRequests += 1
      throw error
    } finally {
      this.requests.requestSeconds += (performance.now() - begun) / 1000
    }
  }
}

/** Statuses that answer a question: there is no such object, the condition is not met, the range is behind its end. */
const ANSWERS = [404, 409, 412, 416]

const tagOf = (header = '') => header.replace(/^"(.*)"$/, '$1')

type SentCommand<Input extends Sdk.ServiceInputTypes, Output extends Sdk.ServiceOutputTypes> = Parameters<
  typeof Sdk.S3Client.prototype.send<Input, Output>
>[0]

interface Connection {
  readonly sdk: typeof Sdk
  readonly client: Sdk.S3Client
  readonly Upload: typeof Upload
}
