import { randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { EngineError, invalidOption } from '../errors.ts'
import { MAGIC, TAIL_BYTES } from '../parquet/parquet-file.ts'
import { splitS3 } from '../store/objects/address.ts'
import { isNamed, MissingObject } from '../store/objects/failures.ts'
import type { S3Store } from '../store/objects/s3.ts'
import { writeAt } from '../util/whole-file.ts'
import {
  type AttachedFolder,
  type ListedFile,
  matching,
  type OpenFile,
  PATTERN,
  requireAttachable,
  sorted,
} from './listing.ts'

/** The bytes at the end of an object that are read at first, which have the footers of most. */
const END_BYTES = 64 << 10
/** No footer has more: one of 10,000 columns and 1,000 row groups has a tenth. */
const MOST_FOOTER = 2 ** 28

interface BucketOptions {
  readonly attachable: readonly string[]
  readonly bucketOf: (name: string) => S3Store | undefined
  /** Where files may be made. */
  readonly temporary: string
}

/**
 * What an address `s3://bucket/key` means: a folder, an object, or a pattern. One that is not a key of an object is
 * taken for a folder.
 * @throws EngineError `invalid_file`, `invalid_option`, `storage_unavailable`
 */
export async function attachedBucket(
  address: string,
  { attachable, bucketOf, temporary }: BucketOptions,
): Promise<AttachedFolder> {
  const { bucket: name, key } = splitS3(address)
  const segments = key.split('/').filter((segment, at, all) => segment !== '' || at < all.length - 1)
  if (segments.some((segment) => ['', '.', '..'].includes(segment)))
    throw invalidOption(`An address must not have empty steps, . or .. in it: ${address}`)
  const pathOf = (steps: readonly string[]) => [`s3://${name}`, ...steps].join('/')
  const first = segments.findIndex((segment) => PATTERN.test(segment))
  const place = first < 0 ? segments : segments.slice(0, first)
  const isBelow = (folder: string, prefix: string) => `${folder}/`.startsWith(prefix)
  // Before a request is sent.
  requireAttachable(pathOf(place), attachable, isBelow)
  const bucket = bucketOf(name)!
  const isObject = first < 0 && !/(^|\/)$/.test(key) && (await bucket.head(key)) !== undefined
  const steps = isObject ? place.slice(0, -1) : place
  const folder = pathOf(steps)
  requireAttachable(folder, attachable, isBelow)
  const prefix = steps.map((step) => `${step}/`).join('')
  const pattern = isObject ? segments.at(-1) : first < 0 ? undefined : segments.slice(first).join('/')
  return {
    folder,
    list: () => listed(bucket, { folder, prefix, pattern }),
    open: (file, signal) => footerFile(bucket, prefix, file, { temporary, signal }),
  }
}

async function listed(
  bucket: S3Store,
  { folder, prefix, pattern }: { folder: string; prefix: string; pattern: string | undefined },
): Promise<ListedFile[]> {
  const matches = matching(pattern)
  const found = new Map<string, ListedFile>()
  try {
    for await (const { key, bytes, tag } of bucket.list(prefix)) {
      const name = key.slice(prefix.length)
      if (/(^|\/)[._]/.test(name) || !matches.test(name)) continue
      if (tag === '') throw new EngineError('invalid_file', `The store gives no ETag of ${name}.`)
      found.set(name, { name, bytes, changed: tag })
    }
  } catch (error) {
    if (!isNamed((error as Error).cause, 'NoSuchBucket')) throw error
    throw new EngineError('invalid_file', `There is no bucket for ${folder}.`, { cause: error })
  }
  return sorted([...found.keys()], folder, pattern).map((name) => found.get(name)!)
}

/** Makes a file of an object's size that has only its beginning and its footer; the rest is a hole. */
async function footerFile(
  bucket: S3Store,
  prefix: string,
  { name, bytes, changed }: ListedFile,
  { temporary, signal }: { readonly temporary: string; readonly signal: AbortSignal | undefined },
): Promise<OpenFile> {
  const path = join(temporary, `${randomUUID()}.parquet`)
  const dispose = () => rm(path, { force: true })
  try {
    await using handle = await open(path, 'wx', 0o600)
    await handle.truncate(bytes)
    const copy = async (from: number, to: number) => {
      if (from >= to) return new Uint8Array()
      const data = await bucket.get(prefix + name, from, to, signal, changed)
      await writeAt(handle, data, from)
      return data
    }
    const from = Math.max(bytes - END_BYTES, 0)
    const [end] = await Promise.all([copy(from, bytes), copy(0, Math.min(MAGIC.length, from))])
    const tail = Buffer.from(end).subarray(-TAIL_BYTES)
    const footer = tail.length === TAIL_BYTES && tail.subarray(4).equals(MAGIC) ? tail.readUInt32LE(0) : 0
    const start = bytes - TAIL_BYTES - footer
    if (footer <= MOST_FOOTER && start >= 0) await copy(start, from)
    return { path, [Symbol.asyncDispose]: dispose }
  } catch (cause) {
    await dispose()
    if (!(cause instanceof MissingObject)) throw cause
    throw new EngineError('invalid_file', `${name} was changed while it was attached. Try again.`, { cause })
  }
}
