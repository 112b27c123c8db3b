interface Operation {
  readonly summary?: string
  readonly tags?: readonly string[]
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** The page that lists all routes, made from the API description. */
export function httpPage({ paths }: OpenApi): string {
  const rows = new Map<string, string[]>()
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { summary = '', tags = [] }] of Object.entries(operations)) {
      const group = tags[0] ?? 'Others'
      const row = `| \`${method.toUpperCase()}\` | \`${path.replaceAll('|', '\\|')}\` | ${summary} |`
      rows.set(group, [...(rows.get(group) ?? []), row])
    }
  }
  return [
    '# HTTP API',
    'Each server has an interactive description of its API at <a href="/docs" target="_self">`/docs`</a>, with parameters, bodies and answers, and the same for programs at `/openapi.json`.',
    'The key is the user name of Basic authentication, with an empty password; `Authorization: Bearer KEY` and `X-API-Key: KEY` work as well. For programs that accept only an address, add `apiKey=…` to the query; the key then appears in logs.',
    ...[...rows].flatMap(([group, lines]) => [
      `## ${group}`,
      ['| method | path | |', '|---|---|---|', ...lines].join('\n'),
    ]),
    '',
  ].join('\n\n')
}
