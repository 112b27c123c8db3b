import type { Dataset, Format, RowsQuery } from '../../../client/index.ts'
import { api } from '../api.ts'

export interface Snippet {
  readonly id: string
  readonly title: string
  readonly note?: string
  readonly text: string
  /** A file that opens the dataset in the program. */
  readonly file?: 'pbids' | 'odc'
}

/** How to read a dataset in other programs. The key is never in it: it is read from the environment. */
export function snippets(
  { id, name, repositoryId }: Dataset,
  query: RowsQuery,
  repository: string,
): readonly Snippet[] {
  const url = (format: Format) => api().datasets.address(id, format, query).href
  const text = (format: Format) => JSON.stringify(url(format))
  const feed = `${location.origin}/repositories/${repositoryId}/odata/`
  return [
    {
      id: 'curl',
      title: 'curl',
      text: `curl --fail --user "$PARQUETRY_KEY:" --output data.csv \\\n  '${url('csv').replaceAll("'", '%27')}'`,
    },
    {
      id: 'pandas',
      title: 'Python, pandas',
      text: python('io, os', 'pandas as pd', `pd.read_parquet(io.BytesIO(answer.content))`, text('parquet')),
    },
    {
      id: 'polars',
      title: 'Python, polars',
      text: python('os', 'polars as pl', `pl.read_ipc_stream(answer.content)`, text('arrow')),
    },
    { id: 'r', title: 'R', text: r(text('csv')) },
    { id: 'javascript', title: 'JavaScript', text: javascript(text('json')) },
    {
      id: 'excel',
      title: 'Excel',
      note: 'Open the file, or choose Data › Get Data › From OData Feed with this address. The key is the user name, any password will do.',
      text: feed,
      file: 'odc',
    },
    {
      id: 'power-bi',
      title: 'Power BI',
      note: 'Open the file, or choose Get data › OData feed with this address, then Basic with the key as the user name.',
      text: feed,
      file: 'pbids',
    },
    {
      id: 'duckdb',
      title: 'DuckDB',
      note: 'With its extension httpfs.',
      text: `CREATE SECRET parquetry (TYPE http, EXTRA_HTTP_HEADERS MAP {'X-API-Key': getenv('PARQUETRY_KEY')});\nFROM read_parquet('${url('parquet').replaceAll("'", '%27')}');`,
    },
    {
      id: 'sql',
      title: 'SQL',
      note: 'Read only, over HTTP, with every dataset that your key may read.',
      text: sql([repository, name]),
    },
    {
      id: 'mcp',
      title: 'MCP, for agents',
      note: `The tools find the dataset as ${name}, with the id ${id}.`,
      text: mcp(),
    },
  ]
}

function sql(names: readonly string[]): string {
  const table = names.map((part) => `"${part.replaceAll('"', '""')}"`).join('.')
  return `curl --fail --user "$PARQUETRY_KEY:" --header 'Content-Type: text/plain' \\\n  --data 'SELECT * FROM ${table.replaceAll("'", `'\\''`)} LIMIT 5' '${location.origin}/sql'`
}

function mcp(): string {
  const headers = { Authorization: 'Bearer ${PARQUETRY_KEY}' }
  return JSON.stringify(
    { mcpServers: { parquetry: { type: 'http', url: `${location.origin}/mcp`, headers } } },
    null,
    2,
  )
}

function python(modules: string, library: string, read: string, url: string): string {
  return [
    `import ${modules}`,
    `import ${library}`,
    'import requests',
    '',
    'answer = requests.get(',
    `    ${url},`,
    '    auth=(os.environ["PARQUETRY_KEY"], ""),',
    ')',
    'answer.raise_for_status()',
    `table = ${read}`,
  ].join('\n')
}

function r(url: string): string {
  return [
    'library(httr2)',
    '',
    `answer <- request(${url}) |>`,
    '  req_auth_basic(Sys.getenv("PARQUETRY_KEY"), "") |>',
    '  req_perform()',
    'table <- read.csv(text = resp_body_string(answer))',
  ].join('\n')
}

function javascript(url: string): string {
  return [
    'const answer = await fetch(',
    `  ${url},`,
    '  { headers: { Authorization: `Bearer ${process.env.PARQUETRY_KEY}` } },',
    ')',
    'if (!answer.ok) throw new Error(await answer.text())',
    'const rows = await answer.json()',
  ].join('\n')
}
