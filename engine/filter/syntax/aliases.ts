import { invalidOption } from '../../errors.ts'

/** Parameter aliases of a query, `@p=5`, and which of them were used (OData 4.01 part 2, 5.3). */
export class Aliases {
  readonly #values: ReadonlyMap<string, string>
  readonly #used = new Set<string>()

  /** @throws EngineError `invalid_option` for a name that is no alias */
  constructor(values: Readonly<Record<string, string>> = {}) {
    for (const name of Object.keys(values)) {
      if (!/^@[A-Za-z_]\w*$/.test(name)) {
        throw invalidOption(`${name} is not the name of an alias; one is written like @p.`)
      }
    }
    this.#values = new Map(Object.entries(values))
  }

  /** The text that an alias stands for. The standard says that an alias without a value is null. */
  take(name: string): string {
    this.#used.add(name)
    return this.#values.get(name) ?? 'null'
  }

  /**
   * Refuses aliases that have a value but are not used. Without this check, a misspelt alias in the filter would
   * silently be null.
   * @throws EngineError `invalid_option`
   */
  requireAllUsed(): void {
    const unused = [...this.#values.keys()].filter((name) => !this.#used.has(name))
    if (unused.length > 0) {
      throw invalidOption(`The query does not use ${unused.join(', ')}.`)
    }
  }
}
