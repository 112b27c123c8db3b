import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type * as Sdk from '@aws-sdk/client-s3'

/** Larger files are sent in pieces of this size. A piece that fails is sent again by itself. */
export const PIECE_BYTES = 16 * 2 ** 20
/** How many pieces of one file are sent at once. Each is in memory. */
const AT_ONCE = 4
/** The most pieces that S3 allows for an object (S3 User Guide, "multipart upload limits"). */
const MOST_PIECES = 10_000

export interface Connection {
  readonly sdk: typeof Sdk
  readonly client: Sdk.S3Client
}

interface Target {
  readonly Bucket: string
  readonly Key: string
  readonly IfNoneMatch?: string
}

/**
 * Stores a file as one object, sent in pieces. The object appears when all pieces have arrived. If one fails, the
 * upload is aborted and the store removes its pieces.
 * @throws the SDK's errors
 */
export async function putPieces(
  { sdk, client }: Connection,
  { IfNoneMatch, ...at }: Target,
  file: string,
  bytes: number,
  signal?: AbortSignal,
): Promise<void> {
  const failed = new AbortController()
  const abortSignal = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal
  const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(at), { abortSignal })
  try {
    await using handle = await open(file)
    const size = Math.max(PIECE_BYTES, Math.ceil(bytes / MOST_PIECES))
    const parts: Sdk.CompletedPart[] = []
    const count = Math.ceil(bytes / size)
    let next = 0
    const sender = async () => {
      while (next < count) {
        const index = next++
        const length = Math.min(size, bytes - index * size)
        const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafeSlow(length), {
          position: index * size,
        })
        if (bytesRead < length) throw new Error(`${file} has become shorter while it was sent`)
        const PartNumber = index + 1
        const { ETag } = await client.send(
          new sdk.UploadPartCommand({ ...at, UploadId, PartNumber, Body: buffer, ContentMD5: md5(buffer) }),
          { abortSignal },
        )
        parts[index] = { PartNumber, ETag }
      }
    }
    await Promise.all(
      Array.from({ length: AT_ONCE }, () =>
        sender().catch((error) => {
          failed.abort()
          throw error
        }),
      ),
    )
    const MultipartUpload = { Parts: parts }
    await client.send(
      new sdk.CompleteMultipartUploadCommand({
        ...at,
        UploadId,
        MultipartUpload,
        ...(IfNoneMatch && { IfNoneMatch }),
      }),
      { abortSignal },
    )
  } catch (error) {
    // If the store is down, this fails, too; `endUploads` then removes the pieces later.
    await client.send(new sdk.AbortMultipartUploadCommand({ ...at, UploadId })).catch(() => {})
    throw error
  }
}

/** The MD5 of data in the form of the header `Content-MD5` (RFC 1864). */
export function md5(data: Uint8Array): string {
  return createHash('md5').update(data).digest('base64')
}
