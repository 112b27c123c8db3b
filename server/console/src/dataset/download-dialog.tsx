import { useEffect, useRef, useState } from 'preact/hooks'
import type { Dataset, Format, Question } from '../../../client/index.ts'
import { isAbort, messageOf } from '../api.ts'
import { formatBytes, formatCount, plural } from '../format.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Progress } from '../ui/feedback.tsx'
import { announce } from '../ui/toast.tsx'
import { type DownloadProgress, download } from './download.ts'

const CHOICES: readonly { readonly format: Format; readonly label: string; readonly note: string }[] = [
  { format: 'csv', label: 'CSV', note: 'for everything that reads tables' },
  { format: 'xlsx', label: 'Excel', note: 'typed cells, several sheets past 1,048,576 rows' },
  { format: 'parquet', label: 'Parquet', note: 'small, typed; for pandas, R, DuckDB, Spark' },
  { format: 'json', label: 'JSON', note: 'an array of objects' },
  { format: 'ndjson', label: 'NDJSON', note: 'one object on each line' },
  { format: 'tsv', label: 'TSV', note: 'tabs between the fields' },
  { format: 'arrow', label: 'Arrow', note: 'a stream of record batches' },
]

type State =
  | { readonly kind: 'choosing' }
  | { readonly kind: 'running'; readonly progress: DownloadProgress }
  | { readonly kind: 'failed'; readonly message: string }

/** Takes the rows of the view away in a format of choice. */
export function DownloadDialog(props: {
  readonly dataset: Dataset
  readonly query: Question
  readonly rowCount: number | undefined
  readonly onClose: () => void
}) {
  const [format, setFormat] = useState<Format>('csv')
  const [state, setState] = useState<State>({ kind: 'choosing' })
  const controller = useRef<AbortController>(undefined)
  useEffect(() => () => controller.current?.abort(), [])

  const start = async () => {
    const own = new AbortController()
    controller.current = own
    setState({ kind: 'running', progress: { bytes: 0, rows: undefined } })
    try {
      const bytes = await download(props.dataset.id, props.query, format, `${props.dataset.name}.${format}`, {
        signal: own.signal,
        onProgress: throttled((progress) => setState({ kind: 'running', progress })),
      })
      announce(`${props.dataset.name}.${format} is saved, ${formatBytes(bytes)}.`)
      props.onClose()
    } catch (error) {
      setState(isAbort(error) ? { kind: 'choosing' } : { kind: 'failed', message: messageOf(error) })
    }
  }

  const running = state.kind === 'running'
  return (
    <Dialog title={`Download ${props.dataset.name}`} onClose={props.onClose}>
      <div class="dialog-body">
        <p>
          {props.rowCount === undefined ? 'The rows' : plural(props.rowCount, 'row')}
          {props.query.filter ? ', as filtered' : ''}
          {props.query.orderBy ? ', in the order that you see' : ''}.
        </p>
        <fieldset class="choices" disabled={running}>
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
        {running && <Running progress={state.progress} rowCount={props.rowCount} />}
        {state.kind === 'failed' && (
          <p class="field-error" role="alert">
            {state.message}
          </p>
        )}
      </div>
      <footer class="dialog-foot">
        {running ? (
          <button type="button" class="button" onClick={() => controller.current?.abort()}>
            Cancel the download
          </button>
        ) : (
          <button type="button" class="button button-primary" onClick={start}>
            Download
          </button>
        )}
      </footer>
    </Dialog>
  )
}

function Running(props: { readonly progress: DownloadProgress; readonly rowCount: number | undefined }) {
  const { bytes, rows } = props.progress
  const share = rows !== undefined && props.rowCount ? Math.min(1, rows / (props.rowCount + 1)) : undefined
  return (
    <div class="running">
      <Progress label="Download" share={share} />
      <p class="figures">
        {formatBytes(bytes)}
        {rows !== undefined && rows > 0 ? ` · ${formatCount(rows)} lines` : ''}
      </p>
    </div>
  )
}

/** Calls through at most ten times a second; drawing each piece would slow the download. */
function throttled<T>(call: (value: T) => void): (value: T) => void {
  let last = 0
  return (value) => {
    const now = performance.now()
    if (now - last < 100) return
    last = now
    call(value)
  }
}
