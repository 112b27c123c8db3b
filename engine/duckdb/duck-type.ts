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
 * @param renamed other names for types without parameters
 */
export function parseDuckType(text: string, renamed: Readonly<Record<string, string>> = {}): DuckType {
  return new TypeReader(text, renamed).read()
}

class TypeReader {
  readonly #text: string
  readonly #renamed: Readonly<Record<string, string>>
  #at = 0

  constructor(text: string, renamed: Readonly<Record<string, string>>) {
    this.#text = text
    this.#renamed = renamed
  }

  read(): DuckType {
    const type = this.#type()
    this.#skipSpaces()
    return this.#at === this.#text.length ? type : this.#fail('the end')
  }

  #type(): DuckType {
    let type = this.#base()
    while (this.#takes('[')) {
      this.#match(/[^\]]*/y)
      if (!this.#takes(']')) this.#fail("']'")
      type = { kind: 'list', of: type }
    }
    return type
  }

  #base(): DuckType {
    this.#skipSpaces()
    if (this.#next === '"') return { kind: 'scalar', name: this.#quoted('"') }
    // A type's name may have several words (`TIMESTAMP WITH TIME ZONE`). The name of a field has already been read.
    const word = this.#match(/[A-Za-z_][A-Za-z0-9_]*(?: [A-Za-z][A-Za-z0-9_]*)*/y)?.[0]
    const name = word?.toUpperCase() ?? this.#fail('the name of a type')
    if (this.#next === '(') return this.#withArguments(name)
    return { kind: 'scalar', name: this.#renamed[name] ?? name }
  }

  #withArguments(name: string): DuckType {
    switch (name) {
      case 'STRUCT':
        return { kind: 'struct', fields: this.#list(() => this.#field()) }
      case 'UNION':
        return { kind: 'union', members: this.#list(() => this.#field()) }
      case 'MAP': {
        const [key, value] = this.#list(() => this.#type())
        return key && value ? { kind: 'map', key, value } : this.#fail('two types in MAP')
      }
      case 'DECIMAL':
      case 'NUMERIC': {
        const [precision, scale] = this.#list(() => Number(this.#argument()))
        return { kind: 'decimal', precision: precision!, scale: scale ?? 0 }
      }
      default:
        this.#list(() => this.#argument())
        return name === 'ENUM' ? { kind: 'enum' } : { kind: 'scalar', name }
    }
  }

  #list<T>(item: () => T): T[] {
    if (!this.#takes('(')) this.#fail("'('")
    const items: T[] = []
    do items.push(item())
    while (this.#takes(','))
    if (!this.#takes(')')) this.#fail("')'")
    return items
  }

  #field(): DuckField {
    this.#skipSpaces()
    const name = this.#next === '"' ? this.#quoted('"') : this.#match(/[^ ]*/y)![0]
    return { name, type: this.#type() }
  }

  #argument(): string {
    this.#skipSpaces()
    const quote = this.#next
    return quote === "'" || quote === '"' ? this.#quoted(quote) : this.#match(/[^,)]*/y)![0]
  }

  /** Text in quotes, in which two quotes stand for one. */
  #quoted(quote: string): string {
    const pattern = new RegExp(`${quote}([^${quote}]*(?:${quote}${quote}[^${quote}]*)*)${quote}`, 'y')
    const match = this.#match(pattern) ?? this.#fail(`a closing ${quote}`)
    return match[1]!.replaceAll(quote + quote, quote)
  }

  /** Takes what a sticky pattern matches here. */
  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (!match) return undefined
    this.#at = pattern.lastIndex
    return match
  }

  get #next(): string | undefined {
    return this.#text[this.#at]
  }

  #skipSpaces(): void {
    while (this.#next === ' ') this.#at++
  }

  #takes(token: string): boolean {
    this.#skipSpaces()
    if (!this.#text.startsWith(token, this.#at)) return false
    this.#at += token.length
    return true
  }

  #fail(expected: string): never {
    throw new TypeError(`DuckDB type '${this.#text}': expected ${expected} at position ${this.#at}`)
  }
}
