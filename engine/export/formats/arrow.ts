import { type RecordBatch, RecordBatchStreamWriter, type Schema } from 'apache-arrow'
import type { EncodedColumn, Encoder } from './encoder.ts'
import { Output } from './output.ts'
import { recordBatch, streamSchema } from './record-batch.ts'

/** The end of a stream: a continuation marker and a length of zero. */
const END = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)

/**
 * Arrow's streaming IPC format: a schema message, a message for each batch, the end mark. Each thread that encodes has
 * a writer, and the schema message of one of them is used.
 */
export const arrow = (columns: readonly EncodedColumn[]): Encoder => {
  const schema = streamSchema(columns)
  const head = new Output(1024)
  const messages = new Messages(schema, head)
  return {
    begin: (out) => out.append(head.written()),
    batch: (batch, _first, out) => {
      if (batch.rows > 0) messages.append(recordBatch(schema, columns, batch), out)
    },
    end: (_rows, out) => out.append(END),
  }
}

/** Writes messages straight into an output. The writer's own sink would gather and copy each one first. */
class Messages extends RecordBatchStreamWriter {
  #out: Output

  /** Writes the message of the schema. */
  constructor(schema: Schema, out: Output) {
    super()
    this.#out = out
    this.reset(undefined, schema)
  }

  append(batch: RecordBatch, out: Output): void {
    this.#out = out
    this.write(batch)
    // The writer notes where each message lies, for the footer of a file; a stream has none.
    this._recordBatchBlocks = []
  }

  protected override _write(chunk: ArrayBufferView): this {
    this.#out.append(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    return this
  }
}
