import { quoteLiteral } from '../../../engine/types/index.ts'

/**
 * A Trino that runs already, and its catalog: `http://127.0.0.1:8090/parquetry`. Its configuration says
 * `regex-library=RE2J` and `node.bind-ip=127.0.0.1`, and that of the catalog
 *
 *     connector.name=iceberg
 *     iceberg.catalog.type=rest
 *     iceberg.rest-catalog.uri=http://127.0.0.1:PORT/iceberg
 *     iceberg.rest-catalog.warehouse=plain
 *     iceberg.rest-catalog.view-endpoints-enabled=false
 *     iceberg.rest-catalog.security=OAUTH2
 *     iceberg.rest-catalog.oauth2.token=the-root-key-of-the-tests
 *     iceberg.security=read_only
 *     fs.native-local.enabled=true
 *     local.location=/
 *
 * with the PORT that PARQUETRY_TEST_TRINO_PORT names, on which the tests then serve.
 */
export const TRINO = process.env['PARQUETRY_TEST_TRINO']
export const PORT = Number(process.env['PARQUETRY_TEST_TRINO_PORT'] ?? 0)

interface Answer {
  readonly error?: { readonly errorName: string; readonly message: string }
  readonly data?: readonly (readonly unknown[])[]
  readonly nextUri?: string
}

/** The rows of a query with parameters, which are texts. */
export async function askTrino(sql: string, parameters: readonly string[] = []): Promise<unknown[][]> {
  const { origin, pathname } = new URL(TRINO!)
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
    if (answer.error) throw new Error(`${answer.error.errorName}: ${answer.error.message}`)
    rows.push(...(answer.data ?? []).map((row) => [...row]))
    if (answer.nextUri === undefined) return rows
    answer = (await (await fetch(answer.nextUri)).json()) as Answer
  }
}
