import type { Format } from '../../types/index.ts'
import type { EncodedColumn, EncodeOptions, Encoder, Envelope } from './encoder.ts'
import { gzipped } from './gzip.ts'

type MakeEncoder = (columns: readonly EncodedColumn[], options: EncodeOptions) => Encoder

interface FormatEntry {
  /** Loads the encoder of batches; none if DuckDB itself writes the format. */
  readonly encoder?: () => Promise<MakeEncoder>
  /** All bytes of a table without columns; none if the format has no such table. */
  readonly empty?: string
}

const ENTRIES = {
  csv: { encoder: async () => (await import('./csv.ts')).csv, empty: '' },
  tsv: { encoder: async () => (await import('./csv.ts')).tsv, empty: '' },
  json: { encoder: async () => (await import('./json.ts')).json, empty: '[]' },
  ndjson: { encoder: async () => (await import('./json.ts')).ndjson, empty: '' },
  xlsx: { encoder: async () => (await import('./xlsx/xlsx.ts')).xlsx },
  parquet: {},
  arrow: { encoder: async () => (await import('./arrow.ts')).arrow },
} as const satisfies Record<Format, FormatEntry>

/** The formats that have an encoder of batches. */
export type EncodedFormat = {
  [F in Format]: (typeof ENTRIES)[F] extends { encoder: unknown } ? F : never
}[Format]

/** The encoders that were loaded: importing a module again takes longer than encoding a few rows. */
const loaded = new Map<EncodedFormat, MakeEncoder>()

export async function openEncoder(
  format: EncodedFormat,
  columns: readonly EncodedColumn[],
  options: EncodeOptions,
): Promise<Encoder> {
  let make = loaded.get(format)
  if (!make) {
    make = await ENTRIES[format].encoder()
    loaded.set(format, make)
  }
  const made = make(columns, options)
  const encoder = options.envelope && !made.packing ? within(made, options.envelope) : made
  return options.coding === 'gzip' && !encoder.packing ? gzipped(encoder) : encoder
}

/** An encoder that also writes the text before and after the rows. */
function within(encoder: Encoder, { before, after }: Envelope): Encoder {
  return {
    begin(out) {
      out.append(Buffer.from(before))
      encoder.begin(out)
    },
    batch: (batch, first, out) => encoder.batch(batch, first, out),
    end(rows, out) {
      encoder.end(rows, out)
      out.append(Buffer.from(after(rows)))
    },
  }
}

/** All bytes of a table without columns; undefined where the format has no such table. */
export function emptyTable(format: Format): string | undefined {
  const entry: FormatEntry = ENTRIES[format]
  return entry.empty
}
