import { CONFIG_SCHEMA, variableOf } from '../../../server/config/schema.ts'

interface Setting {
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
  readonly description?: string
  readonly about?: string
  readonly fileOnly?: boolean
  readonly secret?: boolean
  readonly properties?: Readonly<Record<string, Setting>>
  readonly items?: Setting
}

/** The page on the settings of the server, made from the schema that checks them. */
export function configurationPage(): string {
  const groups = Object.entries(CONFIG_SCHEMA.properties as Readonly<Record<string, Setting>>)
  const single = groups.filter(([, { properties }]) => properties === undefined)
  return [
    '# Configuration',
    'Settings are in the JSON file that `PARQUETRY_CONFIG` names, such as `{"port": 9000, "timeouts": {"firstByte": 60000}}`. Where a variable is named, it overrides the file; settings marked *variable only* can’t be in the file, so that it holds no secret. Times are in milliseconds and sizes in bytes. A setting that is unknown or has a wrong type stops the start with a message that names it.',
    '## General',
    table(single.map(([name, setting]) => [name, setting])),
    ...groups
      .filter(([, { properties }]) => properties !== undefined)
      .flatMap(([name, { properties }]) => [`## ${name}`, table(flat(properties!, ''))]),
    '## Variables without a setting',
    '`PARQUETRY_CONFIG` names the file. `PARQUETRY_PROVIDER_<SLUG>_URL` and `PARQUETRY_PROVIDER_<SLUG>_KEY` set the address and the key of a provider, with the slug in capitals and `_` for `-`. `PARQUETRY_SERVER` and `PARQUETRY_KEY` are for the [command](command.md).',
    '',
  ].join('\n\n')
}

function flat(properties: Readonly<Record<string, Setting>>, before: string): [string, Setting][] {
  return Object.entries(properties).flatMap(([name, setting]) =>
    setting.properties === undefined
      ? [[before + name, setting] satisfies [string, Setting]]
      : flat(setting.properties, `${before}${name}.`),
  )
}

function table(settings: readonly [string, Setting][]): string {
  const rows = settings.map(([name, setting]) => {
    const isTop = Object.hasOwn(CONFIG_SCHEMA.properties, name)
    const named = isTop ? variableOf(name, setting) : undefined
    const variable = named === undefined ? '' : `\`${named}\`${setting.secret ? ', variable only' : ''}`
    return `| \`${name}\` | ${takes(setting)} | ${shown(setting.default)} | ${variable} | ${setting.about ?? ''} |`
  })
  return ['| setting | takes | default | variable | meaning |', '|---|---|---|---|---|', ...rows].join('\n')
}

function takes({ type, enum: values, minimum, maximum, description, items }: Setting): string {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ')
  if (description !== undefined) return description.replaceAll('<', '&lt;')
  if (items !== undefined) return `a list; each ${takes(items)}`
  const types = [type ?? ''].flat().map((each) => (each === 'null' ? '`null` for no limit' : each))
  const bounds = [minimum, maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum].map((bound) =>
    bound?.toLocaleString('en'),
  )
  const range =
    bounds[0] === undefined
      ? ''
      : bounds[1] === undefined
        ? ` from ${bounds[0]}`
        : ` from ${bounds[0]} to ${bounds[1]}`
  return types
    .join(' or ')
    .replace(/^(integer|number|string|boolean)/, (word) => word + (word === 'integer' ? range : ''))
}

function shown(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'number' ? value.toLocaleString('en') : `\`${JSON.stringify(value)}\``
}
