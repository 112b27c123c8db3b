import type { Variable } from './cube.ts'

/** The codes that a key selects of each variable. */
export type Selection = readonly (readonly string[])[]

/**
 * Reads a key: a code of each variable, with points between them. `+` stands between several codes, and `*` or nothing
 * for all of them. Codes may themselves contain points and `+` (`01.1`, `80+`), so those of the table decide where one
 * ends. undefined if the table has no such codes.
 */
export function parseKey(key: string, variables: readonly Variable[]): Selection | undefined {
  // In a query string `+` means a blank.
  return matched(key, variables) ?? matched(key.replaceAll(' ', '+'), variables)
}

function matched(key: string, [variable, ...others]: readonly Variable[]): Selection | undefined {
  if (variable === undefined) return key === '' ? [] : undefined
  for (const [codes, rest] of beginnings(key, variable)) {
    if (others.length === 0 ? rest !== '' : !rest.startsWith('.')) continue
    const found = matched(rest.slice(1), others)
    if (found !== undefined) return [codes, ...found]
  }
  return undefined
}

/** The ways to read codes of a variable at the beginning of a key, longer codes first, each with what follows. */
function* beginnings(key: string, variable: Variable): Generator<readonly [readonly string[], string]> {
  const codes = variable.codes.filter(
    (code) => code !== '' && key.startsWith(code) && /^([.+]|$)/.test(key.slice(code.length)),
  )
  for (const code of codes.sort((a, b) => b.length - a.length)) {
    const rest = key.slice(code.length)
    if (rest.startsWith('+'))
      for (const [more, after] of beginnings(rest.slice(1), variable)) yield [[code, ...more], after]
    else yield [[code], rest]
  }
  const [, rest] = /^\*?((?:\..*)?)$/s.exec(key) ?? []
  if (rest !== undefined) yield [variable.codes, rest]
}

/** How many cells a selection has. */
export function sizeOf(selection: Selection): number {
  return selection.reduce((size, codes) => size * codes.length, 1)
}

/** Parts of a selection of which none has more than so many cells, in the order of the cells of the first variables. */
export function partsOf(selection: Selection, most: number): readonly Selection[] {
  const longest = Math.max(...selection.map((codes) => codes.length), 0)
  if (sizeOf(selection) <= most || longest < 2) return [selection]
  const at = selection.findIndex((codes) => codes.length === longest)
  const half = Math.ceil(longest / 2)
  const halves = [selection[at]!.slice(0, half), selection[at]!.slice(half)]
  return halves.flatMap((codes) => partsOf(selection.with(at, codes), most))
}
