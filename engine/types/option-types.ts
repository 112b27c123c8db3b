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
  readonly inWords?: string
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
