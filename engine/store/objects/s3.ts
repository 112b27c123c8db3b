import { open, stat } from 'node:fs/promises'
import type * as Sdk from '@aws-sdk/client-s3'
import { Opened } from '../../util/opened.ts'
import { nameOf, type S3Address, s3Requests } from './address.ts'
import {
  MissingObject,
  type ObjectBody,
  type ObjectStore,
  type PutOptions,
  type StoredObject,
  storeUnavailable,
} from './object-store.ts'
import { persistently } from './persistence.ts'
import { type Connection, md5, PIECE_BYTES, putPieces } from './s3-pieces.ts'

export interface S3Deadlines {
  /** Milliseconds to open a connection. */
  readonly connect: number
  /** Milliseconds without a byte in either direction. */
  readonly idle: number
  /** Milliseconds for one request and its answer. */
  readonly request: number
}

const DEADLINES: S3Deadlines = { connect: 3_000, idle: 20_000, request: 60_000 }
/** How often the SDK sends a request in all, if it fails by a 5xx, throttling or a broken connection. */
const ATTEMPTS = 3
const CONNECTIONS = 64

/**
 * A bucket of Amazon's S3 or of a compatible store. Each piece is sent with its MD5, and every such store compares it
 * with the bytes that arrive, so that what is stored is what was sent. (Not every store knows the newer checksums that
 * the SDK uses by default.) The SDK finds the credentials by itself: in the environment, in files, or from the
 * machine's role.
 */
export class S3Store implements ObjectStore {
  readonly name: string
  readonly #address: S3Address
  readonly #deadlines: S3Deadlines
  readonly #connection = new Opened(() => this.#connect())
  /** Whether to send conditions; false once the store has answered that it does not support them. */
  #conditional = true

  constructor(address: S3Address, deadlines: Partial<S3Deadlines> = {}) {
    this.#address = address
    this.#deadlines = { ...DEADLINES, ...deadlines }
    this.name = nameOf(address)
  }

  async put(key: string, body: ObjectBody, options: PutOptions = {}): Promise<'stored' | 'there'> {
    const { signal } = options
    const conditional = options.onlyNew === true && this.#conditional
    // A conflict with another upload of the same key passes: the next attempt finds the object of the other one.
    const isConflict = (error: unknown) => conditional && isStatus(error, 409)
    try {
      await persistently(() => this.#put(key, body, conditional, signal), isConflict, signal)
      return 'stored'
    } catch (error) {
      if (conditional && isStatus(error, 412)) return 'there'
      if (conditional && isStatus(error, 501)) {
        this.#conditional = false
        return this.put(key, body, options)
      }
      throw failure(error, signal)
    }
  }

  async #put(key: string, body: ObjectBody, onlyNew: boolean, signal?: AbortSignal): Promise<void> {
    const bytes = 'file' in body ? (await stat(body.file)).size : body.data.byteLength
    const at = { ...this.#at(key), ...(onlyNew && { IfNoneMatch: '*' }) }
    if ('file' in body && bytes > PIECE_BYTES) {
      await putPieces(await this.#connection.get(), at, body.file, bytes, signal)
      return
    }
    const data = 'file' in body ? await readAll(body.file, bytes) : body.data
    await this.#send((sdk) => new sdk.PutObjectCommand({ ...at, Body: data, ContentMD5: md5(data) }), signal)
  }

  async get(key: string, from: number, to: number, signal?: AbortSignal): Promise<Uint8Array> {
    try {
      return await persistently(() => this.#get(key, from, to, signal), isBroken, signal)
    } catch (error) {
      if (isStatus(error, 404) || isStatus(error, 416)) throw missing(key, error)
      throw failure(error, signal)
    }
  }

  async #get(key: string, from: number, to: number, signal?: AbortSignal): Promise<Uint8Array> {
    const deadline = AbortSignal.timeout(this.#deadlines.request)
    const range = `bytes=${from}-${to - 1}`
    const answer = await this.#send(
      (sdk) => new sdk.GetObjectCommand({ ...this.#at(key), Range: range }),
      signal ? AbortSignal.any([signal, deadline]) : deadline,
    )
    const bytes = await answer.Body!.transformToByteArray()
    // If an object ends before the range does, S3 answers with the bytes that exist.
    const whole = Number(answer.ContentRange?.split('/')[1])
    if (whole < to) throw new MissingObject(key)
    if (bytes.byteLength !== to - from) throw new HalfAnswer(bytes.byteLength, to - from)
    return bytes
  }

  async head(key: string, signal?: AbortSignal): Promise<{ bytes: number } | undefined> {
    try {
      const found = await this.#send((sdk) => new sdk.HeadObjectCommand(this.#at(key)), signal)
      return { bytes: found.ContentLength ?? 0 }
    } catch (error) {
      if (isStatus(error, 404) && !isNamed(error, 'NoSuchBucket')) return undefined
      throw failure(error, signal)
    }
  }

  /**
   * Removes one object per request, because the request that deletes many needs a checksum that not every store knows.
   */
  async remove(key: string): Promise<void> {
    try {
      await this.#send((sdk) => new sdk.DeleteObjectCommand(this.#at(key)))
    } catch (error) {
      if (isStatus(error, 404) && !isNamed(error, 'NoSuchBucket')) return
      throw failure(error)
    }
  }

  async *list(prefix: string, signal?: AbortSignal): AsyncGenerator<StoredObject, void, undefined> {
    const { Bucket, Key } = this.#at(prefix)
    for (let ContinuationToken: string | undefined; ; ) {
      const page = await this.#list({ Bucket, Prefix: Key, ContinuationToken }, signal)
      for (const { Key: key, Size: bytes } of page.Contents ?? []) {
        yield { key: key!.slice(this.#address.prefix.length), bytes: bytes ?? 0 }
      }
      if (!page.IsTruncated) return
      ContinuationToken = page.NextContinuationToken
    }
  }

  async #list(input: Sdk.ListObjectsV2CommandInput, signal?: AbortSignal) {
    try {
      return await this.#send((sdk) => new sdk.ListObjectsV2Command(input), signal)
    } catch (error) {
      throw failure(error, signal)
    }
  }

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

  close(): void {
    void this.#connection.present().then((connection) => connection?.client.destroy())
  }

  #at(key: string) {
    return { Bucket: this.#address.bucket, Key: this.#address.prefix + key }
  }

  async #send<Input extends Sdk.ServiceInputTypes, Output extends Sdk.ServiceOutputTypes>(
    command: (sdk: typeof Sdk) => SentCommand<Input, Output>,
    signal?: AbortSignal,
  ): Promise<Output> {
    const { sdk, client } = await this.#connection.get()
    return client.send(command(sdk), signal ? { abortSignal: signal } : {})
  }

  async #connect(): Promise<Connection> {
    // Loaded only here, so that programs with rows in a folder do not spend time on it.
    const sdk = await import('@aws-sdk/client-s3')
    const { endpoint, region, pathStyle = false } = s3Requests(this.#address)
    const { connect, idle, request } = this.#deadlines
    const client = new sdk.S3Client({
      forcePathStyle: pathStyle,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      maxAttempts: ATTEMPTS,
      requestHandler: {
        connectionTimeout: connect,
        socketTimeout: idle,
        requestTimeout: request,
        throwOnRequestTimeout: true,
        httpAgent: { keepAlive: true, maxSockets: CONNECTIONS },
        httpsAgent: { keepAlive: true, maxSockets: CONNECTIONS },
      },
      ...(endpoint !== undefined && { endpoint }),
      ...(region !== undefined && { region }),
    })
    return { sdk, client }
  }
}

type SentCommand<Input extends Sdk.ServiceInputTypes, Output extends Sdk.ServiceOutputTypes> = Parameters<
  typeof Sdk.S3Client.prototype.send<Input, Output>
>[0]

/** The error that an answer ended before all of it had arrived. */
class HalfAnswer extends Error {
  constructor(got: number, wanted: number) {
    super(`the store sent ${got} of ${wanted} bytes`)
  }
}

async function readAll(file: string, bytes: number): Promise<Uint8Array> {
  await using handle = await open(file)
  const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(bytes), 0, bytes, 0)
  if (bytesRead < bytes) throw new Error(`${file} has become shorter while it was read`)
  return buffer
}

function isStatus(error: unknown, status: number): boolean {
  return (error as Sdk.S3ServiceException).$metadata?.httpStatusCode === status
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name
}

/** Whether the connection broke after the answer had begun. The SDK itself only retries failures before that. */
function isBroken(error: unknown): boolean {
  if (error instanceof MissingObject) return false
  return (error as Partial<Sdk.S3ServiceException>).$metadata?.httpStatusCode === undefined
}

function missing(key: string, cause: unknown): Error {
  return isNamed(cause, 'NoSuchBucket') ? storeUnavailable(cause) : new MissingObject(key, { cause })
}

function failure(error: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason
  const { code, path } = error as NodeJS.ErrnoException
  // If a local file can't be read, the store is not to blame.
  if (error instanceof MissingObject || (code !== undefined && path !== undefined)) return error
  return storeUnavailable(error)
}
