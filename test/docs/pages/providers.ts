import type { Connector, Limit } from '../../../connectors/connector.ts'

/** The table of providers in the guide, made from the connectors' own descriptions. */
export function providerTable(connectors: readonly Connector[]): string {
  const rows = connectors.map(({ info, search, many, history = [], calendar, freshSeconds = 900 }) => {
    const abilities = [
      ...(search === undefined ? [] : ['search']),
      ...(many === undefined ? [] : ['wildcards']),
      ...(history.length > 0 ? [`vintages (${history.map((one) => `\`${one}\``).join(', ')})`] : []),
      ...(calendar === undefined ? [] : ['calendar']),
    ]
    const cells = [
      `\`${info.slug}\``,
      `[${info.name}](${info.homepage})`,
      info.tier === 'shared-key' ? 'paid with the service’s key' : info.tier,
      info.keyPage === undefined ? info.key : `[${info.key}](${info.keyPage})`,
      limitsOf(info.limits),
      abilities.join(', ') || '·',
      inWords(freshSeconds),
    ]
    return `| ${cells.join(' | ')} |`
  })
  return [
    '| slug | provider | tier | key | requests | has | fresh for |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

function limitsOf({ windows, withKey, concurrency }: Connector['info']['limits']): string {
  const each = (limits: readonly Limit[]) =>
    limits.map(({ requests, perSeconds }) => `${requests} in ${inWords(perSeconds)}`).join(', ')
  const parts = [
    each(windows) || 'none published',
    ...(withKey === undefined ? [] : [`with a key ${each(withKey)}`]),
    ...(concurrency === undefined ? [] : [`${concurrency} at once`]),
  ]
  return parts.join('; ')
}

function inWords(seconds: number): string {
  const units = [
    [86_400, 'd'],
    [3600, 'h'],
    [60, 'min'],
  ] as const
  for (const [size, name] of units) if (seconds % size === 0) return `${seconds / size} ${name}`
  return `${seconds} s`
}
