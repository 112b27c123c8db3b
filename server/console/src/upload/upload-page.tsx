import { useEffect, useRef, useState } from 'preact/hooks'
import type { ColumnType, Dataset, Repository } from '../../../client/index.ts'
import { api, clientOf, isAbort, messageOf } from '../api.ts'
import { mayFollow } from '../dataset/use-source.ts'
import { formatBytes, plural } from '../format.ts'
import { href, navigate } from '../router.ts'
import { sessionKey } from '../session.ts'
import { Empty, Failure, Loading, Progress } from '../ui/feedback.tsx'
import { Field, Select } from '../ui/field.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { announce } from '../ui/toast.tsx'
import { latest, useResource } from '../use-resource.ts'
import { dialectOptions } from './dialect.ts'
import { DialectControls } from './dialect-controls.tsx'
import { DropZone } from './drop-zone.tsx'
import { datasetName, type FileKind, kindOf } from './formats.ts'
import { type Preview, PreviewError, type Reading } from './model.ts'
import { findDialect, previewFile } from './preview.ts'
import { PreviewTable } from './preview-table.tsx'
import { sheetNames } from './preview-xlsx.ts'
import { fetchWithProgress } from './send.ts'

interface Chosen {
  readonly file: File
  readonly kind: FileKind
  readonly preview: Preview | undefined
  readonly reading: Reading
  /** The names of a workbook's sheets. */
  readonly sheets: readonly string[]
  /** Why the file can't be read with these settings, and so can't be uploaded; undefined if it can. */
  readonly problem: string | undefined
}

/** What to do with existing rows. `columns` replaces rows and columns together. */
type Mode = 'append' | 'replace' | 'columns'

type Sending =
  | { readonly state: 'idle' }
  | { readonly state: 'sending'; readonly share: number }
  | { readonly state: 'failed'; readonly message: string }

/** Uploads a file into a new or an existing dataset: choose it, check the preview, confirm. */
export function UploadPage(props: { readonly repositoryId: number; readonly datasetId: number | undefined }) {
  const [resource, again] = useResource(
    async (signal) => {
      const repository = await api().repositories.get(props.repositoryId, { signal })
      const target =
        props.datasetId === undefined ? undefined : await api().datasets.get(props.datasetId, { signal })
      const source =
        target && mayFollow(target.columns) ? await api().datasets.source(target.id, { signal }) : undefined
      return { repository, target, follows: source !== undefined }
    },
    [props.repositoryId, props.datasetId],
  )
  const loaded = latest(resource)
  if (!loaded) {
    if (resource.state === 'failed') return <Failure error={resource.error} onRetry={again} />
    return <Loading page label="Loading the repository" />
  }
  if (loaded.target && loaded.follows) return <Followed dataset={loaded.target} />
  return <UploadView repository={loaded.repository} target={loaded.target} />
}

function Followed({ dataset }: { readonly dataset: Dataset }) {
  return (
    <Empty
      page
      icon="table"
      title={`${dataset.name} follows series`}
      action={
        <a class="button button-primary" href={href(['datasets', dataset.id])}>
          Go to the dataset
        </a>
      }
    >
      Its rows come from the providers of these series, and each refresh replaces them. To add rows of your
      own, stop following the series first.
    </Empty>
  )
}

function UploadView(props: { readonly repository: Repository; readonly target: Dataset | undefined }) {
  const { repository, target } = props
  const [chosen, setChosen] = useState<Chosen>()
  const [problem, setProblem] = useState<string>()
  const [ownName, setOwnName] = useState<string>()
  const [types, setTypes] = useState<ReadonlyMap<string, ColumnType>>(new Map())
  const [mode, setMode] = useState<Mode>('append')
  const [sending, setSending] = useState<Sending>({ state: 'idle' })
  const controller = useRef<AbortController>(undefined)
  useEffect(() => () => controller.current?.abort(), [])
  useEffect(() => {
    document.title = `${target ? 'Add rows' : 'New dataset'} · Parquetry`
  }, [target])

  const name = ownName ?? (chosen ? datasetName(chosen.file.name) : '')
  const choose = async (file: File) => {
    setProblem(undefined)
    setChosen(undefined)
    setTypes(new Map())
    setSending({ state: 'idle' })
    const kind = kindOf(file.name)
    if (!kind) {
      setProblem(
        `${file.name}: this kind of file is not supported. Use csv, tsv, json, ndjson, parquet, arrow or xlsx; text formats may be compressed as .gz.`,
      )
      return
    }
    const dialect = await findDialect(file, kind).catch(() => undefined)
    const sheets = kind.format === 'xlsx' ? await sheetNames(file).catch(() => []) : []
    const reading = { dialect, sheet: sheets[0] }
    setChosen({ file, kind, sheets, reading, ...(await look(file, kind, reading)) })
  }
  const reread = async (reading: Reading) => {
    if (!chosen) return
    // Show the setting at once, before the new preview is ready, because the user may be typing.
    setChosen({ ...chosen, reading })
    setTypes(new Map())
    const read = await look(chosen.file, chosen.kind, reading)
    setChosen((now) => (now?.reading === reading ? { ...now, ...read } : now))
  }

  const send = async (event: Event) => {
    event.preventDefault()
    if (!chosen || chosen.problem !== undefined) return
    const own = new AbortController()
    controller.current = own
    setSending({ state: 'sending', share: 0 })
    try {
      const stored = await commit(
        chosen,
        { repository, target, name: name.trim(), types, mode },
        own.signal,
        (share) => setSending({ state: 'sending', share }),
      )
      announce(`${stored.name} now has ${plural(stored.rowCount, 'row')}.`)
      navigate(href(['datasets', stored.id]))
    } catch (error) {
      setSending(isAbort(error) ? { state: 'idle' } : { state: 'failed', message: messageOf(error) })
    }
  }

  return (
    <div class="page">
      <PageHead
        trail={[
          { label: 'Data', href: href([]) },
          { label: repository.name, href: href(['repositories', repository.id]) },
          ...(target ? [{ label: target.name, href: href(['datasets', target.id]) }] : []),
        ]}
        title={target ? `Add rows to ${target.name}` : 'New dataset'}
      >
        <p class="lede">
          {target
            ? 'If the file has an error, nothing changes. Downloads that are running get the old rows.'
            : 'Drop a file and look at what is in it. Nothing is stored until you confirm.'}
        </p>
      </PageHead>
      <DropZone file={chosen?.file} onFile={choose} />
      {problem && <Failure error={new Error(problem)} />}
      {chosen && (
        <form class="upload-form" onSubmit={send}>
          {chosen.reading.dialect && (
            <DialectControls dialect={chosen.reading.dialect} onDialect={(dialect) => reread({ dialect })} />
          )}
          {chosen.sheets.length > 1 && (
            <Select
              label="Sheet of the workbook"
              value={chosen.reading.sheet ?? ''}
              options={chosen.sheets.map((value) => ({ value, label: value }))}
              onValue={(sheet) => reread({ sheet })}
            />
          )}
          {chosen.problem !== undefined && <Failure error={new Error(chosen.problem)} />}
          {chosen.problem === undefined && (
            <PreviewTable
              preview={chosen.preview}
              existing={
                target && target.columns.length > 0 && mode !== 'columns' ? target.columns : undefined
              }
              fixed={mode === 'columns'}
              types={types}
              onType={(column, type) => setTypes((before) => new Map(before).set(column, type))}
            />
          )}
          {target ? (
            <ModeChoice value={mode} target={target} onValue={setMode} />
          ) : (
            <Field label="Name of the dataset" value={name} onValue={setOwnName} required maxLength={255} />
          )}
          {sending.state === 'failed' && <Failure error={new Error(sending.message)} />}
          {sending.state === 'sending' ? (
            <div class="running">
              <Progress label="Upload" share={sending.share < 1 ? sending.share : undefined} />
              <p class="figures" role="status">
                {sending.share < 1
                  ? `${formatBytes(sending.share * chosen.file.size)} of ${formatBytes(chosen.file.size)} sent`
                  : 'Sent. Checking every row and storing them…'}
              </p>
              <button type="button" class="button" onClick={() => controller.current?.abort()}>
                Cancel the upload
              </button>
            </div>
          ) : (
            <div class="actions">
              <button
                type="submit"
                class="button button-primary"
                disabled={chosen.problem !== undefined || (!target && name.trim() === '')}
              >
                {commitLabel(target, mode)}
              </button>
            </div>
          )}
        </form>
      )}
    </div>
  )
}

function commitLabel(target: Dataset | undefined, mode: Mode): string {
  if (!target) return 'Create the dataset'
  return mode === 'append' ? 'Add the rows' : 'Replace all rows'
}

function ModeChoice(props: {
  readonly value: Mode
  readonly target: Dataset
  readonly onValue: (mode: Mode) => void
}) {
  const option = (mode: Mode, label: string, note: string) => (
    <label class="choice">
      <input type="radio" name="mode" checked={props.value === mode} onChange={() => props.onValue(mode)} />
      <span class="choice-label">{label}</span>
      <span class="choice-note">{note}</span>
    </label>
  )
  return (
    <fieldset class="choices">
      <legend>What to do with the existing rows</legend>
      {option('append', 'Keep them', 'the new rows are added after them')}
      {option('replace', 'Replace them', `the file replaces ${plural(props.target.rowCount, 'row')}`)}
      {option('columns', 'Replace columns too', 'the file replaces both rows and columns')}
    </fieldset>
  )
}

interface Commitment {
  readonly repository: Repository
  readonly target: Dataset | undefined
  readonly name: string
  readonly types: ReadonlyMap<string, ColumnType>
  readonly mode: Mode
}

/** Reads the preview of a file with the given settings. */
async function look(
  file: File,
  kind: FileKind,
  reading: Reading,
): Promise<Pick<Chosen, 'preview' | 'problem'>> {
  try {
    return { preview: await previewFile(file, kind, reading), problem: undefined }
  } catch (error) {
    // Only a PreviewError means that the file is wrong. After any other error the server may still be able to read it.
    const problem = error instanceof PreviewError ? error.message : undefined
    return { preview: undefined, problem }
  }
}

/** Uploads the file. If that fails, a dataset that was created for it is deleted again. */
async function commit(
  chosen: Chosen,
  to: Commitment,
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<Dataset> {
  // Declare types only if the user has changed one; otherwise the server infers them from the whole file.
  const declared = (chosen.preview?.columns ?? []).map(({ name, type }) => ({
    name,
    type: to.types.get(name) ?? type,
  }))
  const columns = to.types.size > 0 ? declared : undefined
  const dataset =
    to.target ?? (await api().datasets.create({ name: to.name, repositoryId: to.repository.id, columns }))
  try {
    const { datasets } = clientOf(sessionKey(), fetchWithProgress(onProgress))
    const { format, gzip } = chosen.kind
    const { dialect, sheet } = chosen.reading
    const upload = {
      format,
      body: chosen.file,
      gzip,
      options: {
        ...(dialect && dialectOptions(dialect, format)),
        ...(sheet !== chosen.sheets[0] && { sheet }),
        ...(to.mode === 'columns' && { columns: 'replace' }),
      },
    }
    return await datasets[to.mode === 'append' ? 'append' : 'replace'](dataset.id, upload, { signal })
  } catch (error) {
    if (!to.target)
      await api()
        .datasets.delete(dataset.id)
        .catch(() => undefined)
    throw error
  }
}
