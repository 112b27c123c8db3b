/**
 * The message of `JSON.parse` without the piece of the text that V8 quotes for some faults, which may contain a key.
 * `Unexpected token 'x', ..."ey": "secret"x"... is not valid JSON` becomes `Unexpected token 'x'`.
 */
export function jsonFault(error: unknown): string {
  const fault = (error as Error).message.replace(/,? ?(?:\.\.\.)?"[\s\S]*is not valid JSON$/, '')
  return fault === '' ? 'it is no value' : fault
}
