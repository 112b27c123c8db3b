import { readFileSync } from 'node:fs'
import { streams } from 'avsc'

/** A schema of Avro, as far as ours go. */
export type AvroSchema =
  | string
  | readonly AvroSchema[]
  | {
      readonly type: 'record'
      readonly name: string
      readonly fields: readonly {
        readonly name: string
        readonly type: AvroSchema
        readonly 'field-id': number
      }[]
    }
  | {
      readonly type: 'array'
      readonly items: AvroSchema
      readonly logicalType?: string
      readonly 'element-id'?: number
    }

export interface AvroRead<Line> {
  /** The schema as it stands in the file. */
  readonly schema: AvroSchema
  readonly header: Readonly<Record<string, string>>
  readonly records: Line[]
}

type Bounds = readonly { readonly key: number; readonly value: Buffer }[]

export interface ManifestLine {
  readonly data_file: {
    readonly file_path: string
    readonly record_count: number
    readonly partition: Readonly<Record<string, number>>
    readonly lower_bounds: Bounds
    readonly upper_bounds: Bounds
  }
}

export interface ListLine {
  readonly manifest_path: string
  readonly manifest_length: number
}

/** Reads an Avro file by another way than it was written: the library's decoder, by the schema in the file. */
export function readAvro<Line>(location: string): Promise<AvroRead<Line>> {
  return readAvroBytes(readFileSync(location.replace('file://', '')))
}

export async function readAvroBytes<Line>(bytes: Buffer): Promise<AvroRead<Line>> {
  const decoder = new streams.BlockDecoder()
  let read: Omit<AvroRead<Line>, 'records'> | undefined
  decoder.on('metadata', (_type: unknown, _codec: unknown, { meta }: { meta: Record<string, Buffer> }) => {
    const texts = Object.entries(meta).map(([key, value]) => [key, value.toString()])
    const { 'avro.schema': schema, ...header } = Object.fromEntries(texts)
    read = { schema: JSON.parse(schema), header }
  })
  const records: Line[] = []
  decoder.on('data', (record) => records.push(record))
  const ended = new Promise((resolve, reject) => decoder.once('end', resolve).once('error', reject))
  decoder.end(bytes)
  await ended
  return { ...read!, records }
}
