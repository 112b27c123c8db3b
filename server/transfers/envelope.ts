import type { ByteStream, EncodeOptions, Query } from '../../engine/index.ts'

/** Text that stands before and after the rows. */
export interface Envelope {
  /** A function gets the number of rows that match, so they are counted first. */
  readonly before: string | ((matches: number) => string)
  /** A function gets the number of rows that were sent. */
  readonly after: string | ((rows: number) => string)
}

/** The text around the rows, if it does not depend on a count that is still unknown. */
export function knownEnvelope(query: Query, envelope: Envelope | undefined): EncodeOptions['envelope'] {
  // The process that writes the rows of a statement can't call functions of ours.
  if (!envelope || query.plan.columns.length === 0 || query.plan.scan.kind === 'query') return undefined
  const { before, after } = envelope
  const matches = query.knownRowCount
  if (typeof before === 'function' && matches === undefined) return undefined
  return {
    before: typeof before === 'function' ? before(matches!) : before,
    after: (rows) => (typeof after === 'function' ? after(rows) : after),
  }
}

/** The rows with the text before and after them. */
export async function* between(
  rows: ByteStream,
  { before, after }: Envelope,
  matches: number | undefined,
): AsyncGenerator<Uint8Array> {
  const start = typeof before === 'function' ? before(matches!) : before
  if (start !== '') yield Buffer.from(start)
  yield* rows
  const end = typeof after === 'function' ? after(rows.rows()) : after
  if (end !== '') yield Buffer.from(end)
}
