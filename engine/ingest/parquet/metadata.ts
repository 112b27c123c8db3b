import type { Pairs } from '../../parquet/footer.ts'
import { COLUMN_FIELDS, type FileMetadata, readMetadata } from '../../types/file-metadata.ts'
import { verifyMessage } from '../arrow/verify-message.ts'

/** The key under which Arrow's libraries write the schema: a message in base64, after its marker and its length. */
const ARROW_SCHEMA = 'ARROW:schema'
const MARKER_BYTES = 8

/** What a Parquet file says about its dataset and its columns. */
export async function metadataOf(pairs: Pairs): Promise<FileMetadata> {
  const schema = Buffer.from(pairs.get(ARROW_SCHEMA) ?? '', 'base64').subarray(MARKER_BYTES)
  // Loading apache-arrow takes a while, and few files describe their columns.
  if (!COLUMN_FIELDS.some((field) => schema.includes(field))) return readMetadata(pairs)
  return readMetadata(pairs, await fieldsOf(schema))
}

async function fieldsOf(message: Uint8Array): Promise<Map<string, Map<string, string>>> {
  const { Message } = await import('apache-arrow')
  try {
    verifyMessage(message)
    const decoded = Message.decode(message)
    if (!decoded.isSchema()) return new Map()
    return new Map(decoded.header().fields.map(({ name, metadata }) => [name, metadata]))
  } catch {
    // The rows are read without this schema, so a damaged one is no reason to refuse them.
    return new Map()
  }
}
