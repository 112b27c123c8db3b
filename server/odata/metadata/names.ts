/** CSDL allows 128 characters; this leaves room for suffixes such as `_1` and `Row`. */
const LONGEST = 112

/** A simple identifier (OData CSDL XML 4.01, 15.2): a letter or `_`, then letters, digits, marks, connectors. */
const IDENTIFIER = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]*$/u
const FIRST = /^[\p{L}\p{Nl}_]/u
const FOREIGN = /[^\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]/gu

/**
 * Returns an identifier for each name, in the same order: `Body Mass (g)` becomes `Body_Mass__g_`. A name that is
 * already an identifier is kept, so it doesn't change when other columns are added or removed. If two identifiers would
 * be equal, ignoring case, the later one gets a number.
 * @param reserved identifiers that must not be used
 */
export function identifiersFor(names: readonly string[], reserved: readonly string[] = []): string[] {
  const taken = new Set(reserved.map(folded))
  const found = new Map<number, string>()
  const keep = (index: number, identifier: string): boolean => {
    if (taken.has(folded(identifier))) return false
    taken.add(folded(identifier))
    found.set(index, identifier)
    return true
  }
  for (const [index, name] of names.entries()) {
    if (IDENTIFIER.test(name) && name.length <= LONGEST) keep(index, name)
  }
  for (const [index, name] of names.entries()) {
    if (found.has(index)) continue
    const identifier = identifierOf(name)
    for (let number = 0; !keep(index, number === 0 ? identifier : `${identifier}_${number}`); number++);
  }
  return names.map((_, index) => found.get(index)!)
}

function identifierOf(name: string): string {
  const characters = name.toWellFormed().replace(FOREIGN, '_')
  const started = FIRST.test(characters) ? characters : `_${characters}`
  // Don't cut a surrogate pair in half.
  return started.slice(0, LONGEST).replace(/[\ud800-\udbff]$/, '')
}

function folded(identifier: string): string {
  return identifier.normalize('NFKC').toLowerCase()
}
