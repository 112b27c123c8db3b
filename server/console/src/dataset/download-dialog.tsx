import { useState } from 'preact/hooks'
import type { Dataset, Format, Question } from '../../../client/index.ts'
import { plural } from '../format.ts'
import { useAttempt } from '../ui/attempt.ts'
import { Dialog } from '../ui/dialog.tsx'
import { announce } from '../ui/toast.tsx'
import { saveConnectionFile, startDownload } from './download.ts'

const CHOICES: readonly { readonly format: Format; readonly label: string; readonly note: string }[] = [
  { format: 'csv', label: 'CSV', note: 'for everything that reads tables' },
  { format: 'xlsx', label: 'Excel', note: 'typed cells, several sheets past 1,048,576 rows' },
  { format: 'parquet', label: 'Parquet', note: 'small, typed; for pandas, R, DuckDB, Spark' },
  { format: 'json', label: 'JSON', note: 'an array of objects' },
  { format: 'ndjson', label: 'NDJSON', note: 'one object on each line' },
  { format: 'tsv', label: 'TSV', note: 'tabs between the fields' },
  { format: 'arrow', label: 'Arrow', note: 'a stream of record batches' },
]

/** Downloads the rows of the view in a chosen format. */
export function DownloadDialog(props: {
  readonly dataset: Dataset
  readonly query: Question
  readonly rowCount: number | undefined
  readonly onClose: () => void
}) {
  const [format, setFormat] = useState<Format>('csv')

  const { busy, error, attempt } = useAttempt(async (work: () => Promise<void>, done: string) => {
    await work()
    announce(done)
    props.onClose()
  })

  const { id, name } = props.dataset
  const start = () =>
    attempt(() => startDownload(id, props.query, format), `Your browser downloads ${name}.${format}.`)
  const open = (kind: 'pbids' | 'odc') =>
    attempt(
      () => saveConnectionFile(props.dataset, kind),
      `Open ${name}.${kind}; it asks for your key as the user name.`,
    )

  return (
    <Dialog title={`Download ${props.dataset.name}`} onClose={props.onClose}>
      <div class="dialog-body">
        <p>
          {props.rowCount === undefined ? 'The rows' : plural(props.rowCount, 'row')}
          {props.query.filter ? ', as filtered' : ''}
          {props.query.apply ? ', as grouped and summed' : ''}
          {props.query.orderBy ? ', in the order that you see' : ''}.
        </p>
        <fieldset class="choices" disabled={busy}>
          <legend class="visually-hidden">Format</legend>
          {CHOICES.map((choice) => (
            <label key={choice.format} class="choice">
              <input
                type="radio"
                name="format"
                value={choice.format}
                checked={format === choice.format}
                onChange={() => setFormat(choice.format)}
              />
              <span class="choice-label">{choice.label}</span>
              <span class="choice-note">{choice.note}</span>
            </label>
          ))}
        </fieldset>
        <p>Or stay connected to the whole table, so that a refresh brings what is new:</p>
        <p>
          <button type="button" class="button" disabled={busy} onClick={() => open('odc')}>
            Open in Excel
          </button>{' '}
          <button type="button" class="button" disabled={busy} onClick={() => open('pbids')}>
            Open in Power BI
          </button>
        </p>
        {error && (
          <p class="field-error" role="alert">
            {error}
          </p>
        )}
      </div>
      <footer class="dialog-foot">
        <button type="button" class="button button-primary" disabled={busy} onClick={start}>
          {busy ? 'Asking…' : 'Download'}
        </button>
      </footer>
    </Dialog>
  )
}
