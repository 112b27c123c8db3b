import type { EncodedColumn, EncodeOptions, Encoder } from './encoder.ts'
import { BatchMessages, END, schemaMessage } from './messages.ts'
import { streamSchema } from './record-batch.ts'

/** Arrow's streaming IPC format: a message of the schema, one for each batch, the end mark. */
export const arrow = (columns: readonly EncodedColumn[], { metadata }: EncodeOptions): Encoder => {
  const messages = new BatchMessages(columns)
  return {
    begin: (out) => out.append(schemaMessage(streamSchema(columns, metadata))),
    batch: (batch, _first, out) => {
      if (batch.rows > 0) messages.append(batch, out)
    },
    end: (_rows, out) => out.append(END),
  }
}
