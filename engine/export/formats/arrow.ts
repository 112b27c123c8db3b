import { type RecordBatch, RecordBatchStreamWriter, type Schema } from 'apache-arrow'
import type { EncodedColumn, Encoder } from './encoder.ts'
import { recordBatch, streamSchema } from './record-batch.ts'

/** The end of a stream: a continuation marker and a length of zero. */
const END = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)

/**
 * Arrow's streaming IPC format: a schema message, a message for each batch, the end mark. The writer of apache-arrow
 * adds the schema and the end mark to each batch. Both are cut off again, which is possible because the same schema
 * always gives the same bytes.
 */
export const arrow = (columns: readonly EncodedColumn[]): Encoder => {
  const schema = streamSchema(columns)
  const head = stream(schema).subarray(0, -END.length)
  return {
    begin: (out) => out.append(head),
    batch: (batch, _first, out) => {
      if (batch.rows === 0) return
      out.append(stream(schema, recordBatch(schema, columns, batch)).subarray(head.length, -END.length))
    },
    end: (_rows, out) => out.append(END),
  }
}

function stream(schema: Schema, batch?: RecordBatch): Uint8Array {
  const writer = new RecordBatchStreamWriter()
  writer.reset(undefined, schema)
  if (batch) writer.write(batch)
  writer.finish()
  return writer.toUint8Array(true)
}
