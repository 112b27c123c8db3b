import { quoteLiteral } from '../../engine/types/index.ts'

interface Answer {
  readonly error?: { readonly errorName: string; readonly message: string }
  readonly data?: readonly (readonly unknown[])[]
  readonly nextUri?: string
}

/** A statement failed in Trino. */
export class TrinoRefusal extends Error {
  readonly errorName: string

  constructor(errorName: string, message: string) {
    super(`${errorName}: ${message}`)
    this.errorName = errorName
  }
}

/** The rows of a statement with parameters, which are texts, from the Trino at `http://host:port/catalog`. */
export async function askTrino(
  url: string,
  sql: string,
  parameters: readonly string[] = [],
): Promise<unknown[][]> {
  const { origin, pathname } = new URL(url)
  const values = parameters.map(quoteLiteral).join(', ')
  const response = await fetch(`${origin}/v1/statement`, {
    method: 'POST',
    headers: {
      'x-trino-user': 'tests',
      'x-trino-catalog': pathname.slice(1),
      'x-trino-time-zone': 'UTC',
      'x-trino-client-capabilities': 'PARAMETRIC_DATETIME',
    },
    body: values === '' ? sql : `EXECUTE IMMEDIATE ${quoteLiteral(sql)} USING ${values}`,
  })
  const rows: unknown[][] = []
  for (let answer = (await response.json()) as Answer; ; ) {
    if (answer.error) throw new TrinoRefusal(answer.error.errorName, answer.error.message)
    rows.push(...(answer.data ?? []).map((row) => [...row]))
    if (answer.nextUri === undefined) return rows
    answer = (await (await fetch(answer.nextUri)).json()) as Answer
  }
}
