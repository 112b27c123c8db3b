import type { EncodedColumn, Encoder } from './encoder.ts'
import { BatchMessages, END, schemaMessage } from './messages.ts'
import { streamSchema } from './record-batch.ts'

/** Arrow's streaming IPC format: a message of the schema, one for each batch, the end mark. */
export const arrow = (columns: readonly EncodedColumn[]): Encoder => {
  const messages = new BatchMessages(columns)
  return {
    begin: (out) => out.append(schemaMessage(streamSchema(columns))),
    batch: (batch, _first, out) => {
      if (batch.rows > 0) messages.append(batch, out)
    },
    end: (_rows, out) => out.append(END),
  }
}
