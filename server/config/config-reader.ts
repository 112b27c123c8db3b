/** What is wrong with the configuration, in a sentence that names the setting. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Checks a value from JSON and gives it typed. `where` names the setting. @throws ConfigError */
export type Reader<T> = (value: unknown, where: string) => T

export function integer(least: number, most: number = Number.MAX_SAFE_INTEGER): Reader<number> {
  return (value, where) => {
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) {
      return value as number
    }
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
    throw new ConfigError(`${where} must be a whole number ${range}, not ${JSON.stringify(value)}.`)
  }
}

export const boolean: Reader<boolean> = (value, where) => {
  if (typeof value === 'boolean') return value
  throw new ConfigError(`${where} must be true or false, not ${JSON.stringify(value)}.`)
}

/** The value isn't quoted: it may be a key, or an address with a password in it. */
export const text: Reader<string> = (value, where) => {
  if (typeof value === 'string' && value !== '') return value
  throw new ConfigError(`${where} must be text that is not empty.`)
}

export const address: Reader<string> = (value, where) => {
  const given = text(value, where)
  if (URL.canParse(given) && /^https?:$/.test(new URL(given).protocol)) return given
  throw new ConfigError(`${where} must be an http or https address.`)
}

export function oneOf<const T extends string>(...values: readonly T[]): Reader<T> {
  return (value, where) => {
    if ((values as readonly unknown[]).includes(value)) return value as T
    throw new ConfigError(`${where} must be one of ${values.join(', ')}, not ${JSON.stringify(value)}.`)
  }
}

/** The value, or null for "no limit". */
export function orNull<T>(reader: Reader<T>): Reader<T | null> {
  return (value, where) => (value === null ? null : reader(value, where))
}

export function list<T>(reader: Reader<T>): Reader<readonly T[]> {
  return (value, where) => {
    if (!Array.isArray(value)) throw new ConfigError(`${where} must be a list.`)
    return value.map((item, index) => reader(item, `${where}[${index}]`))
  }
}

/** An object whose keys are free. */
export function mapOf<T>(reader: Reader<T>): Reader<Readonly<Record<string, T>>> {
  return (value, where) =>
    Object.fromEntries(
      Object.entries(plainObject(value, where)).map(([key, item]) => [key, reader(item, `${where}.${key}`)]),
    )
}

type Shape = Readonly<Record<string, Reader<unknown>>>
type Read<S extends Shape> = { readonly [K in keyof S]?: ReturnType<S[K]> }

/** An object whose keys are known; each may be left out. */
export function object<S extends Shape>(shape: S): Reader<Read<S>> {
  return (value, where) => {
    const entries = Object.entries(plainObject(value, where)).map(([key, item]) => {
      const reader = Object.hasOwn(shape, key) ? shape[key] : undefined
      const name = where === '' ? key : `${where}.${key}`
      if (!reader) {
        throw new ConfigError(`${name} is not a setting; known here are ${Object.keys(shape).join(', ')}.`)
      }
      return [key, reader(item, name)]
    })
    return Object.fromEntries(entries)
  }
}

function plainObject(value: unknown, where: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>
  }
  throw new ConfigError(`${where || 'The configuration'} must be an object.`)
}
