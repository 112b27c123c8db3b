// biome-ignore-all lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reached by keys
import { useState } from 'preact/hooks'
import { quoteIdentifier } from '../../../../engine/types/index.ts'
import type { Dataset, Format, Repository, RowsQuery } from '../../../client/index.ts'
import { api } from '../api.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton, saveBlob } from '../ui/copy.tsx'
import { Check } from '../ui/field.tsx'
import { Card } from '../ui/page.tsx'
import { announce, complain } from '../ui/toast.tsx'
import { viewQuery } from '../view/view.ts'
import type { Exploration } from './exploration.ts'

/** How to read a dataset in other programs, each with its address filled in. */
export function Connect({ dataset, view, home }: Exploration) {
  const query = view ? viewQuery(view) : {}
  const isNarrowed = Object.values(query).some((value) => value !== undefined)
  const [asSeen, setAsSeen] = useState(isNarrowed)
  const open = async (kind: 'pbids' | 'odc') => {
    const text = await api().datasets.connectionFile(dataset.id, kind)
    saveBlob(new Blob([text]), `${dataset.name}.${kind}`)
    announce(`Open ${dataset.name}.${kind}; it asks for your key as the user name.`)
  }
  const parts = snippets(dataset, asSeen ? query : {}, home)
  return (
    <div class="connect">
      <p>
        Put your key into the environment variable <code>PARQUETRY_KEY</code>. For others, make{' '}
        <a href="#/account">a key of its own</a> that only reads.
      </p>
      {isNarrowed && (
        <Check checked={asSeen} onChecked={setAsSeen}>
          Only the rows and columns that you see, in their order
        </Check>
      )}
      <div class="connect-grid">
        {parts.map(({ title, note, text, file }) => (
          <Card
            key={title}
            title={title}
            hint={note}
            head={
              <span class="actions">
                {file && (
                  <Button
                    icon="download"
                    look="small"
                    to={() => open(file).catch(complain)}
                    says={`.${file}`}
                  />
                )}
                <CopyButton text={text} what={`The text for ${title} is`} />
              </span>
            }
          >
            <section class="snippet" tabIndex={0} aria-label={`Text for ${title}`}>
              <pre>
                <code>{text}</code>
              </pre>
            </section>
          </Card>
        ))}
      </div>
    </div>
  )
}

/** How to read a dataset in other programs. The key is never in it: it is read from the environment. */
function snippets({ id, name, repositoryId }: Dataset, query: RowsQuery, home: Repository | undefined) {
  const url = (format: Format) => api().datasets.address(id, format, query).href
  const text = (format: Format) => JSON.stringify(url(format))
  const inQuotes = (format: Format) => `'${url(format).replaceAll("'", '%27')}'`
  const table = (home ? [home.owner, home.name, name] : [name]).map(quoteIdentifier).join('.')
  const feed = `${location.origin}/repositories/${repositoryId}/odata/`
  return [
    {
      title: 'curl',
      text: `curl --fail-with-body --user "$PARQUETRY_KEY:" --output data.csv \\
  ${inQuotes('csv')}`,
    },
    {
      title: 'Python, pandas',
      text: python('io, os', 'pandas as pd', `pd.read_parquet(io.BytesIO(answer.content))`, text('parquet')),
    },
    {
      title: 'Python, polars',
      text: python('os', 'polars as pl', `pl.read_ipc_stream(answer.content)`, text('arrow')),
    },
    { title: 'R', text: r(text('csv')) },
    { title: 'JavaScript', text: javascript(text('json')) },
    {
      title: 'Excel',
      note: 'Open the file, or choose Data › Get Data › From OData Feed with this address. The key is the user name, any password will do.',
      text: feed,
      file: 'odc' as const,
    },
    {
      title: 'Power BI',
      note: 'Open the file, or choose Get data › OData feed with this address, then Basic with the key as the user name.',
      text: feed,
      file: 'pbids' as const,
    },
    {
      title: 'DuckDB',
      note: 'With its extension httpfs.',
      text: `CREATE SECRET parquetry (TYPE http, EXTRA_HTTP_HEADERS MAP {'X-API-Key': getenv('PARQUETRY_KEY')});
FROM read_parquet(${inQuotes('parquet')});`,
    },
    {
      title: 'SQL',
      note: 'Read only, over HTTP, with every dataset that your key may read.',
      text: `curl --fail-with-body --user "$PARQUETRY_KEY:" --header 'Content-Type: text/plain' \\
  --data 'SELECT * FROM ${table.replaceAll("'", `'\\''`)} LIMIT 5' '${location.origin}/sql'`,
    },
    {
      title: 'MCP, for agents',
      note: `The tools find the dataset as ${name}, with the id ${id}.`,
      text: mcp(),
    },
  ]
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
  return `import ${modules}
import ${library}
import requests

answer = requests.get(
    ${url},
    auth=(os.environ["PARQUETRY_KEY"], ""),
)
answer.raise_for_status()
table = ${read}`
}

function r(url: string): string {
  return `library(httr2)

answer <- request(${url}) |>
  req_auth_basic(Sys.getenv("PARQUETRY_KEY"), "") |>
  req_perform()
table <- read.csv(text = resp_body_string(answer))`
}

function javascript(url: string): string {
  return `const answer = await fetch(
  ${url},
  { headers: { Authorization: \`Bearer \${process.env.PARQUETRY_KEY}\` } },
)
if (!answer.ok) throw new Error(await answer.text())
const rows = await answer.json()`
}
