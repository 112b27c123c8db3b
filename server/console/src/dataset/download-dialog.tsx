import { useState } from 'preact/hooks'
import type { Dataset, Format, RowsQuery } from '../../../client/index.ts'
import { plural } from '../format.ts'
import { Choices } from '../ui/field.tsx'
import { FormDialog } from '../ui/form.tsx'
import { announce } from '../ui/toast.tsx'
import { startDownload } from './download.ts'

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

/** Downloads the rows of the view in a chosen format. */
export function DownloadDialog(props: {
  readonly dataset: Dataset
  readonly query: RowsQuery
  readonly rowCount: number | undefined
  readonly onClose: () => void
}) {
  const { query, rowCount } = props
  const { id, name } = props.dataset
  const [choice, setChoice] = useState<(typeof CHOICES)[number]['value']>('csv')
  const start = async () => {
    const european = choice === 'european'
    const format = european ? 'csv' : choice
    await startDownload(id, european ? { ...query, ...EUROPEAN } : query, format)
    announce(`Your browser downloads ${name}.${format}.`)
    props.onClose()
  }
  return (
    <FormDialog
      title={`Download ${name}`}
      action="Download"
      busyAction="Asking…"
      onSubmit={start}
      onClose={props.onClose}
    >
      <p>
        {rowCount === undefined ? 'The rows' : plural(rowCount, 'row')}
        {query.filter || query.search ? ', as filtered' : ''}
        {query.apply ? ', as grouped and summed' : ''}
        {query.orderBy ? ', in the order that you see' : ''}.
      </p>
      <Choices label="Format" value={choice} options={CHOICES} onValue={setChoice} />
    </FormDialog>
  )
}
