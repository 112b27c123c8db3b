import { useState } from 'preact/hooks'
import type { Dataset, Format, Question } from '../../../client/index.ts'
import { messageOf } from '../api.ts'
import { plural } from '../format.ts'
import { Dialog } from '../ui/dialog.tsx'
import { announce } from '../ui/toast.tsx'
import { startDownload } from './download.ts'

const CHOICES: readonly { readonly format: Format; readonly label: string; readonly note: string }[] = [
  { format: 'csv', label: 'CSV', note: 'for everything that reads tables' },
  { format: 'xlsx', label: 'Excel', note: 'typed cells, several sheets past 1,048,576 rows' },
  { format: 'parquet', label: 'Parquet', note: 'small, typed; for pandas, R, DuckDB, Spark' },
  { format: 'json', label: 'JSON', note: 'an array of objects' },
  { format: 'ndjson', label: 'NDJSON', note: 'one object on each line' },
  { format: 'tsv', label: 'TSV', note: 'tabs between the fields' },
  { format: 'arrow', label: 'Arrow', note: 'a stream of record batches' },
]

/** Takes the rows of the view away in a format of choice. */
export function DownloadDialog(props: {
  readonly dataset: Dataset
  readonly query: Question
  readonly rowCount: number | undefined
  readonly onClose: () => void
}) {
  const [format, setFormat] = useState<Format>('csv')
  const [error, setError] = useState<string>()
  const [busy, setBusy] = useState(false)

  const start = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await startDownload(props.dataset.id, props.query, format)
      announce(`Your browser downloads ${props.dataset.name}.${format}.`)
      props.onClose()
    } catch (failure) {
      setError(messageOf(failure))
      setBusy(false)
    }
  }

  return (
    <Dialog title={`Download ${props.dataset.name}`} onClose={props.onClose}>
      <div class="dialog-body">
        <p>
          {props.rowCount === undefined ? 'The rows' : plural(props.rowCount, 'row')}
          {props.query.filter ? ', as filtered' : ''}
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
