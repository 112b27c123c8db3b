import type { Dataset, Format, RowsQuery } from '../../../client/index.ts'
import { api } from '../api.ts'
import { plural } from '../format.ts'
import { ask } from '../ui/form.tsx'
import { announce } from '../ui/toast.tsx'

const CHOICES = [
  { value: 'csv', label: 'CSV', note: 'for everything that reads tables' },
  { value: 'european', label: 'CSV, European', note: 'semicolons and decimal commas, opens in Excel' },
  { value: 'xlsx', label: 'Excel', note: 'typed cells, several sheets past 1,048,576 rows' },
  { value: 'parquet', label: 'Parquet', note: 'small, typed; for pandas, R, DuckDB, Spark' },
  { value: 'json', label: 'JSON', note: 'an array of objects' },
  { value: 'ndjson', label: 'NDJSON', note: 'one object on each line' },
  { value: 'tsv', label: 'TSV', note: 'tabs between the fields' },
  { value: 'arrow', label: 'Arrow', note: 'a stream of record batches' },
] as const satisfies readonly { value: Format | 'european'; label: string; note: string }[]

/** How spreadsheets in most of Europe write and read csv. */
const EUROPEAN = { bom: true, delimiter: ';', decimal: ',' } as const

/** Asks for a format, and downloads the rows of a query in it. */
export function download({ id, name }: Dataset, query: RowsQuery, rowCount: number | undefined): void {
  const parts = [
    rowCount === undefined ? 'The rows' : plural(rowCount, 'row'),
    (query.filter || query.search) && 'as filtered',
    query.apply && 'as grouped and summed',
    query.orderBy && 'in the order that you see',
  ]
  ask({
    title: `Download ${name}`,
    text: `${parts.filter(Boolean).join(', ')}.`,
    action: 'Download',
    busyAction: 'Asking…',
    onlyReads: true,
    fields: {
      choice: {
        label: 'Format',
        value: 'csv' as (typeof CHOICES)[number]['value'],
        options: CHOICES,
      },
    },
    async onSubmit({ choice }) {
      const european = choice === 'european'
      const format = european ? 'csv' : choice
      await startDownload(id, european ? { ...query, ...EUROPEAN } : query, format)
      announce(`Your browser downloads ${name}.${format}.`)
    },
  })
}

/**
 * Starts a browser download, which shows the progress, can be cancelled, and keeps nothing in memory. Browsers can't
 * send the key with a download, so it uses a link that works for some minutes without one. Errors are checked for
 * beforehand, because in a download they would appear as a broken file.
 *
 * @throws ParquetryError if the server refuses the query
 */
async function startDownload(datasetId: number, query: RowsQuery, format: Format): Promise<void> {
  const { url } = await api().datasets.link(datasetId, format, query)
  const head = await fetch(url, { method: 'HEAD', credentials: 'omit', cache: 'no-store' })
  if (!head.ok) {
    // Responses to HEAD have no body, so the same query is sent with GET to get the error message.
    await (await api().datasets.download(datasetId, format, query)).cancel()
  }
  const link = document.createElement('a')
  link.href = url.href
  link.download = ''
  link.click()
}
