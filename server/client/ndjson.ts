/** Yields the values of a stream of JSON lines while it arrives. */
export async function* jsonLines<Value>(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Value, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    for (const line of lines) yield parse(line) as Value
  }
  rest += decoder.decode()
  if (rest !== '') yield parse(rest) as Value
}

/** A number that a double can't hold exactly has at least sixteen digits. */
const LONG_NUMBER = /\d[\d.]{15}/

function parse(line: string): unknown {
  return LONG_NUMBER.test(line) ? JSON.parse(line, exactNumber) : JSON.parse(line)
}

/**
 * Revives numbers that a double can't hold exactly: integers as bigint, others as text. `context.source` exists in
 * engines since 2023 (ES2026).
 */
function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined) return value
  if (/^-?\d+$/.test(source)) return Number.isSafeInteger(value) ? value : BigInt(source)
  return significant(source) === significant(String(value)) ? value : source
}

/** The digits of a number from the first to the last that is not 0. */
function significant(number: string): string {
  return number.replace(/[eE].*|\D/g, '').replace(/^0+|0+$/g, '')
}
