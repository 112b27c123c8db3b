import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import type { TrinoRequests } from './requests.ts'

/** What is known of a segment before it is fetched. */
interface SegmentFacts {
  readonly rowOffset?: number
  readonly rowsCount?: number
  /** Absent where the segment is not packed, as small ones are. */
  readonly uncompressedSize?: number
}

type Segment =
  | { readonly type: 'inline'; readonly data: string; readonly metadata?: SegmentFacts }
  | {
      readonly type: 'spooled'
      readonly uri: string
      readonly ackUri: string
      readonly headers?: Readonly<Record<string, readonly string[]>>
      readonly metadata?: SegmentFacts
    }

/** A page of an answer: rows, or where they are. */
export type Data =
  | readonly (readonly unknown[])[]
  | { readonly encoding: string; readonly segments: readonly Segment[] }

export type Rows = readonly (readonly unknown[])[]

const unpack = promisify(zstdDecompress)

/** The rows of a page. */
export async function rowsOf(data: Data, requests: TrinoRequests): Promise<Rows> {
  if (Array.isArray(data)) return data
  const { encoding, segments } = data as Exclude<Data, Rows>
  if (encoding !== 'json' && encoding !== 'json+zstd') throw new TypeError(`unknown encoding ${encoding}`)
  // They are fetched side by side, and put in order by the numbers of their first rows.
  const sorted = segments.toSorted((a, b) => (a.metadata?.rowOffset ?? 0) - (b.metadata?.rowOffset ?? 0))
  const parts = await Promise.all(sorted.map((segment) => rowsOfSegment(segment, requests)))
  return parts.flat()
}

async function rowsOfSegment(segment: Segment, requests: TrinoRequests): Promise<Rows> {
  const { rowsCount, uncompressedSize } = segment.metadata ?? {}
  const bytes =
    segment.type === 'inline'
      ? Buffer.from(segment.data, 'base64')
      : await requests.segment(segment.uri, segment.headers ?? {})
  const packed = uncompressedSize !== undefined
  const text = packed ? await unpack(bytes, { maxOutputLength: requests.maxBytes }) : bytes
  requests.take(text.length)
  const rows: unknown = JSON.parse(text.toString())
  if (!Array.isArray(rows) || (rowsCount !== undefined && rows.length !== rowsCount)) {
    throw new TypeError(`a segment has not the ${rowsCount} rows that it should have`)
  }
  if (segment.type === 'spooled') requests.acknowledge(segment.ackUri)
  return rows
}
