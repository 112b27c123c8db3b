import { nearest } from '../util/nearest.ts'

/** What other options are called where sentences about one are read. */
export type NameOf = (name: string, option: Option) => string

const asInHttp: NameOf = (_, { http }) => http

/** A sentence about an option: its formats, and what it does. */
export function brief(name: string, table: OptionTable, nameOf = asInHttp): string {
  const { formats, about } = table[name]!
  return renamed(formats ? `${formats.join(', ')}: ${lowerFirst(about)}` : about, table, nameOf)
}

/** All sentences about an option. */
export function describe(name: string, table: OptionTable, nameOf = asInHttp): string {
  const { details, excludes = [] } = table[name]!
  const others = excludes.flatMap((other) => (table[other] ? `\`${nameOf(other, table[other])}\`` : []))
  const further = [details ?? [], others.length > 0 ? `Not together with ${others.join(' or ')}.` : []].flat()
  return [brief(name, table, nameOf), ...further.map((one) => renamed(one, table, nameOf))].join(' ')
}

function renamed(text: string, table: OptionTable, nameOf: NameOf): string {
  return text.replace(/`(\$\w+)`/g, (whole, http: string) => {
    const found = Object.entries(table).find(([, option]) => option.http === http)
    return found ? `\`${nameOf(...found)}\`` : whole
  })
}

/** For a text that goes on. Words such as `UTF-8` keep their capitals. */
export function lowerFirst(text: string): string {
  return /^[A-Z][a-z ]/.test(text) ? text[0]!.toLowerCase() + text.slice(1) : text
}

/** The names of a type's options, and of those within options that are objects. */
export type Names<Options extends object> = {
  readonly [Name in keyof Options]-?:
    | true
    | (NonNullable<Options[Name]> extends object ? Names<NonNullable<Options[Name]>> : never)
}

/** An option that is wrong, if it has a name, and a sentence about it. */
export interface OptionProblem {
  readonly option?: string
  readonly problem: string
}

/**
 * What is wrong with the names of options, because one that is misspelt would otherwise be ignored.
 * @param known a table of options, or `Names`
 */
export function unknownOption(options: unknown, known: object): OptionProblem | undefined {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    return { problem: `Options are an object, not ${JSON.stringify(options)}.` }
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    if (!Object.hasOwn(known, name)) {
      const names = Object.keys(known)
      const near = nearest(name, names)
      const meant = near === undefined ? '' : ` Did you mean ${near}?`
      const problem = `Unknown option ${JSON.stringify(name)}.${meant} Valid options: ${names.join(', ')}.`
      return { option: name, problem }
    }
    const inner: true | object = known[name as keyof typeof known]
    if (inner === true || 'kind' in inner) continue
    const unknown = unknownOption(value, inner)
    if (unknown !== undefined) return unknown
  }
  return undefined
}

/**
 * What is wrong with options: an unknown name, a value of another kind, a format that an option is not for, or options
 * that exclude each other.
 * @param named marks the name of an option in the sentence
 */
export function wrongOption(
  options: object,
  table: OptionTable,
  named: (http: string) => string,
  format?: string,
): OptionProblem | undefined {
  const unknown = unknownOption(options, table)
  if (unknown !== undefined) return unknown
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  for (const [name, value] of given) {
    const option = table[name]!
    const { http, formats } = option
    if (format !== undefined && formats && !formats.includes(format)) {
      const inProse = formats.join(', ').replace(/, (?=[^,]*$)/, ' and ')
      return { option: http, problem: `${named(http)} is for ${inProse}; the format is ${format}.` }
    }
    const expected = isValue(option, value) ? undefined : valueInProse(option)
    if (expected !== undefined)
      return { option: http, problem: `${named(http)} must be ${expected} (got ${JSON.stringify(value)}).` }
    const other = option.excludes?.find((one) => given.some(([also]) => also === one))
    if (other !== undefined)
      return {
        option: http,
        problem: `${named(http)} and ${named(table[other]!.http)} can't be used together.`,
      }
  }
  return undefined
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isList = (value: unknown, isItem: (item: unknown) => boolean) =>
  Array.isArray(value) && value.every(isItem)

/** What the values of each kind are, and the same in words. */
const KINDS: Readonly<Record<keyof Kinds, readonly [holds: (value: unknown) => boolean, inWords: string]>> = {
  text: [isText, 'text'],
  character: [isText, 'one character'],
  count: [(value) => Number.isSafeInteger(value) && (value as number) >= 0, 'a non-negative integer'],
  flag: [(value) => typeof value === 'boolean', 'true or false'],
  texts: [(value) => isList(value, isText), 'a list of texts'],
  columns: [(value) => isText(value) || isList(value, isText), 'text or a list of column names'],
  order: [
    (value) => isText(value) || isList(value, isOrderKey),
    'text or a list of keys such as {"column": "year", "descending": true}',
  ],
  aliases: [
    (value) => typeof value === 'object' && value !== null && Object.values(value).every(isText),
    'an object whose values are text',
  ],
}

function isValue({ kind, values, pattern }: Option, value: unknown): boolean {
  if (values) return isText(value) && values.includes(value)
  return KINDS[kind][0](value) && (!pattern || pattern.test(String(value)))
}

function isOrderKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { column, descending = false, ...others } = value as Record<string, unknown>
  return isText(column) && typeof descending === 'boolean' && Object.keys(others).length === 0
}

/** What a value must be. */
function valueInProse({ kind, values, inProse }: Option): string {
  return inProse ?? values?.map((one) => JSON.stringify(one)).join(' or ') ?? KINDS[kind][1]
}

/** Those of the options that are in a table, in its order. */
export function pick<Table extends OptionTable>(options: OptionsOf<Table>, table: Table): OptionsOf<Table> {
  const given = options as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.keys(table).flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
  ) as OptionsOf<Table>
}

/** The options that parameters of HTTP mean; those of other names are left out. */
export function fromHttp<Table extends OptionTable>(query: object, table: Table): OptionsOf<Table> {
  const values = query as Readonly<Record<string, unknown>>
  const given: Record<string, unknown> = {}
  for (const name of Object.keys(table)) {
    const { http, kind } = table[name]!
    if (values[http] !== undefined) given[name] = valueFromHttp(kind, values[http])
  }
  return given as OptionsOf<Table>
}

/** The name of an option without the dollar sign: as an option of a command, or an argument for agents. */
export function plainName(_: string, { http }: Option): string {
  return http.replace('$', '')
}

/** The options that values with plain names mean. */
export function fromPlain<Table extends OptionTable>(given: object, table: Table): OptionsOf<Table> {
  const values = given as Readonly<Record<string, unknown>>
  const query = Object.entries(table).map(([name, row]) => [row.http, values[plainName(name, row)]])
  return fromHttp(Object.fromEntries(query), table)
}

function valueFromHttp(kind: keyof Kinds, value: unknown): unknown {
  if (kind === 'character' && value === 'tab') return '\t'
  if (kind === 'count' && isText(value) && /^\d{1,15}$/.test(value)) return Number(value)
  if (kind === 'flag' && isText(value)) return value === 'true' ? true : value === 'false' ? false : value
  return kind === 'texts' && isText(value) ? value.split(',') : value
}

/** Options as they are written in a query string. */
export function optionTexts<Table extends OptionTable>(
  options: OptionsOf<Table>,
  table: Table,
): Record<string, string> {
  const entries = Object.entries(toHttp(options, table))
  return Object.fromEntries(entries.map(([name, value]) => [name, value === '\t' ? 'tab' : String(value)]))
}

/** The parameters of HTTP for options; those that are not in the table are left out. */
export function toHttp<Table extends OptionTable>(
  options: OptionsOf<Table>,
  table: Table,
): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(pick(options, table)).flatMap(([name, value]): [string, string | number | boolean][] =>
      typeof value === 'object' && !Array.isArray(value)
        ? Object.entries(value as Kinds['aliases'])
        : [[table[name]!.http, valueToHttp(table[name]!.kind, value as HttpValue)]],
    ),
  )
}

type HttpValue = string | number | boolean | readonly (string | OrderKey)[]

function valueToHttp(kind: keyof Kinds, value: HttpValue): string | number | boolean {
  if (typeof value !== 'object') return value
  return value
    .map((one) => (typeof one === 'object' ? sortText(one) : kind === 'columns' ? quotedName(one) : one))
    .join(',')
}

/** A sort key as text. */
export function sortText({ column, descending }: OrderKey): string {
  return quotedName(column) + (descending ? ' desc' : '')
}

/** Names that are not identifiers may contain commas, spaces and quotes. */
function quotedName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
}

/** A sort key; in HTTP `year desc`. */
export interface OrderKey {
  readonly column: string
  readonly descending?: boolean
}

/** The values of an option, by its kind. */
export interface Kinds {
  readonly text: string
  /** A number of rows. */
  readonly count: number
  readonly flag: boolean
  /** One character; in HTTP also `tab`. */
  readonly character: string
  /** A list; in HTTP separated by commas. */
  readonly texts: readonly string[]
  /** Names of columns, or the text that HTTP has for them. */
  readonly columns: string | readonly string[]
  readonly order: string | readonly OrderKey[]
  /** Values of parameter aliases by their names: `{ '@p': "'x'" }`. */
  readonly aliases: Readonly<Record<string, string>>
}

export interface Option {
  /**
   * The name in HTTP. Without the dollar sign, it is also the name of the command's option and of the argument for
   * agents. Each of the `aliases` is a parameter of its own.
   */
  readonly http: string
  readonly kind: keyof Kinds
  /** The only values that it takes. */
  readonly values?: readonly string[]
  /** What its text must match, and the same in words. */
  readonly pattern?: RegExp
  readonly inProse?: string
  /** The formats that it is for; without them, all. */
  readonly formats?: readonly string[]
  /** The options that can't be used together with it. */
  readonly excludes?: readonly string[]
  /** What it does, in one sentence of Markdown, with other options by their names in HTTP. */
  readonly about: string
  /** Further sentences, for documentation that has room for them. */
  readonly details?: string
  readonly example?: string | number
}

/** Options by their names in the library. */
export type OptionTable = Readonly<Record<string, Option>>

type ValueOf<One extends Option> = One extends { readonly values: readonly (infer Value)[] }
  ? Value
  : Kinds[One['kind']]

/** The options of a table as the library takes them. */
export type OptionsOf<Table extends OptionTable> = {
  readonly [Name in keyof Table]?: ValueOf<Table[Name]> | undefined
}

/** The options of a table as the parameters of HTTP that `fromHttp` reads. */
export type ParametersOf<Table extends OptionTable> = {
  readonly [Name in keyof Table as Table[Name]['http']]?:
    | (Table[Name]['kind'] extends 'count' | 'flag' | 'aliases' ? Kinds[Table[Name]['kind']] : string)
    | undefined
}
