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

/** An integer that a double can't hold exactly has at least sixteen digits. */
const LONG_NUMBER = /\d{16}/

function parse(line: string): unknown {
  return LONG_NUMBER.test(line) ? JSON.parse(line, exactInteger) : JSON.parse(line)
}

/**
 * Revives integers that a double can't hold exactly as bigint. `context.source` exists in engines since 2023 (ES2026).
 */
function exactInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source
  return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value
}
