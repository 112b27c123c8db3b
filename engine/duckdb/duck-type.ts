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

/** Quoted names and texts, in which two quotes stand for one; words and numbers; signs. */
const TOKEN = /"(?:[^"]|"")*"|'(?:[^']|'')*'|[^\s()[\],"']+|\S/g
const WORD = /^\w/

/**
 * Reads type text as DuckDB prints it: `STRUCT(a INTEGER, "b c" VARCHAR[])[3]`, `DECIMAL(18,3)`, `ENUM('x', 'y')`.
 * Types that are not known to have a structure become scalars without their parameters (`GEOMETRY('OGC:CRS84')`).
 * @param renamed other names for types without parameters
 */
export function parseDuckType(text: string, renamed: Readonly<Record<string, string>> = {}): DuckType {
  const tokens = [...text.matchAll(TOKEN)]
  let at = 0
  const next = () => tokens[at]?.[0] ?? ''
  const fail = (expected: string): never => {
    const position = tokens[at]?.index ?? text.length
    throw new TypeError(`DuckDB type '${text}': expected ${expected} at position ${position}`)
  }
  const takes = (token: string) => next() === token && ++at > 0
  const take = (token: string) => takes(token) || fail(`'${token}'`)
  const list = <T>(item: () => T): T[] => {
    take('(')
    const items = [item()]
    while (takes(',')) items.push(item())
    take(')')
    return items
  }
  const word = () => {
    const [quote] = next()
    if (quote === undefined || '()[],'.includes(quote)) fail('a name')
    const token = tokens[at++]![0]
    const isQuoted = quote === '"' || quote === "'"
    return isQuoted ? token.slice(1, -1).replaceAll(quote + quote, quote) : token
  }
  const field = (): DuckField => ({ name: word(), type: type() })
  const base = (): DuckType => {
    if (next().startsWith('"')) return { kind: 'scalar', name: word() }
    // A type's name may have several words (`TIMESTAMP WITH TIME ZONE`). The name of a field has already been read.
    const words = [word()]
    while (WORD.test(next())) words.push(word())
    const name = words.join(' ').toUpperCase()
    return next() === '(' ? withArguments(name) : { kind: 'scalar', name: renamed[name] ?? name }
  }
  const withArguments = (name: string): DuckType => {
    if (name === 'STRUCT') return { kind: 'struct', fields: list(field) }
    if (name === 'UNION') return { kind: 'union', members: list(field) }
    if (name === 'MAP') {
      const [key, value] = list(type)
      return key && value ? { kind: 'map', key, value } : fail('two types in MAP')
    }
    const values = list(word)
    if (name === 'DECIMAL' || name === 'NUMERIC')
      return { kind: 'decimal', precision: Number(values[0]), scale: Number(values[1] ?? 0) }
    return name === 'ENUM' ? { kind: 'enum' } : { kind: 'scalar', name }
  }
  const type = (): DuckType => {
    let read = base()
    while (takes('[')) {
      if (next() !== ']') at++
      take(']')
      read = { kind: 'list', of: read }
    }
    return read
  }
  const read = type()
  return at === tokens.length ? read : fail('the end')
}
