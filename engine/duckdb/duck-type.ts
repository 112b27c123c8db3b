/** A DuckDB type, read from the text that `DESCRIBE` prints. */
export type DuckType =
  | { readonly kind: 'scalar'; readonly name: string }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'enum' }
  /** A list, or an array of fixed size. */
  | { readonly kind: 'list'; readonly of: DuckType }
  | { readonly kind: 'struct'; readonly fields: readonly DuckField[] }
  | { readonly kind: 'map'; readonly key: DuckType; readonly value: DuckType }
  | { readonly kind: 'union'; readonly members: readonly DuckField[] }

export interface DuckField {
  readonly name: string
  readonly type: DuckType
}

/**
 * Reads type text as DuckDB prints it: `STRUCT(a INTEGER, "b c" VARCHAR[])[3]`, `DECIMAL(18,3)`, `ENUM('x', 'y')`.
 * Types that are not known to have a structure become scalars without their parameters (`GEOMETRY('OGC:CRS84')`).
 */
export function parseDuckType(text: string): DuckType {
  let at = 0
  const fail = (expected: string): never => {
    throw new TypeError(`DuckDB type '${text}': expected ${expected} at position ${at}`)
  }
  const blanks = (): void => {
    while (text[at] === ' ') at++
  }
  const take = (token: string): boolean => {
    blanks()
    if (!text.startsWith(token, at)) return false
    at += token.length
    return true
  }

  /** Text in quotes, in which two quotes stand for one. */
  const quoted = (quote: string): string => {
    let value = ''
    for (at++; at < text.length; at++) {
      if (text[at] !== quote) value += text[at]
      else if (text[at + 1] === quote) value += text[at++]
      else {
        at++
        return value
      }
    }
    return fail(`a closing ${quote}`)
  }

  const fieldName = (): string => {
    blanks()
    if (text[at] === '"') return quoted('"')
    const start = at
    while (at < text.length && text[at] !== ' ') at++
    return text.slice(start, at)
  }

  const list = <T>(item: () => T): T[] => {
    if (!take('(')) fail("'('")
    const items: T[] = []
    do items.push(item())
    while (take(','))
    if (!take(')')) fail("')'")
    return items
  }
  const field = (): DuckField => ({ name: fieldName(), type: type() })
  const argument = (): string => {
    blanks()
    if (text[at] === "'" || text[at] === '"') return quoted(text[at]!)
    const start = at
    while (at < text.length && text[at] !== ',' && text[at] !== ')') at++
    return text.slice(start, at)
  }

  const base = (): DuckType => {
    blanks()
    if (text[at] === '"') return { kind: 'scalar', name: quoted('"') }
    // A type's name may have several words (`TIMESTAMP WITH TIME ZONE`). The name of a field has already been read.
    const word = /[A-Za-z_][A-Za-z0-9_]*(?: [A-Za-z][A-Za-z0-9_]*)*/y
    word.lastIndex = at
    const name = word.exec(text)?.[0].toUpperCase() ?? fail('the name of a type')
    at += name.length
    if (text[at] !== '(') return { kind: 'scalar', name }
    switch (name) {
      case 'STRUCT':
        return { kind: 'struct', fields: list(field) }
      case 'UNION':
        return { kind: 'union', members: list(field) }
      case 'MAP': {
        const [key, value] = list(type)
        return key && value ? { kind: 'map', key, value } : fail('two types in MAP')
      }
      case 'DECIMAL':
      case 'NUMERIC': {
        const [precision, scale] = list(argument).map(Number)
        return { kind: 'decimal', precision: precision!, scale: scale ?? 0 }
      }
      case 'ENUM':
        list(argument)
        return { kind: 'enum' }
      default:
        list(argument)
        return { kind: 'scalar', name }
    }
  }

  const type = (): DuckType => {
    let read = base()
    while (take('[')) {
      while (at < text.length && text[at] !== ']') at++
      if (!take(']')) fail("']'")
      read = { kind: 'list', of: read }
    }
    return read
  }

  const read = type()
  blanks()
  return at === text.length ? read : fail('the end')
}
