import { useEffect, useRef, useState } from 'preact/hooks'
import { type Contents, contentsOf } from '../../../../engine/ingest/contents.ts'
import { FORMATS_IN_PROSE, foreignNamed, hasDialect } from '../../../../engine/ingest/upload-format.ts'
import { fromHttp, READING } from '../../../../engine/options.ts'
import { storedFor } from '../../../../engine/store/upload-options.ts'
import { withOptions } from '../../../client/errors.ts'
import { type ColumnType, type Dataset, ParquetryError, type UploadOptions } from '../../../client/index.ts'
import { api, messageOf } from '../api.ts'
import { takeBack } from '../dataset/going-back.ts'
import { chosenRepository, store } from '../dataset/storing.ts'
import { plural } from '../format.ts'
import { href, navigate } from '../router.ts'
import { useResource } from '../ui/resource.tsx'
import { announce } from '../ui/toast.tsx'
import { type FileKind, kindOf } from './formats.ts'

const NOT_SUPPORTED = `this kind of file is not supported. Use ${FORMATS_IN_PROSE}; they may be compressed as .gz or .zst.`

interface Selection {
  readonly file: File
  readonly kind: FileKind
  readonly options: UploadOptions
  /** Types that the user has changed, by the names of columns. */
  readonly types: ReadonlyMap<string, ColumnType>
}

/** A file that the user has chosen, and what the server has found in it. */
export type Chosen = NonNullable<ReturnType<typeof useChosen>['chosen']>

/** Such a file, and what the user may change of how it is read. */
export type Reading = Omit<ReturnType<typeof useChosen>, 'chosen'> & { readonly chosen: Chosen }

/**
 * The chosen file. Its preview is read again when the user changes how the file is read.
 * @param stored how the last upload of the dataset was read
 */
export function useChosen(stored?: Dataset['uploadOptions']) {
  const [selected, setSelected] = useState<Selection>()
  const [refusal, setRefusal] = useState<string>()
  const contents = useRef<Contents>({})
  const { loading, value, error } = useResource(
    async (signal) => {
      const found = selected && { file: selected.file, preview: await previewFile(selected, signal) }
      contents.current = { ...contents.current, ...contentsOf(found?.preview ?? {}) }
      return found
    },
    [selected?.file, selected?.options],
  )
  const preview = error === undefined && value?.file === selected?.file ? value?.preview : undefined
  const faults = preview?.errors.map(inConsole) ?? []
  const chosen = selected && {
    ...selected,
    /** Those that are sent with the file. */
    sent: selected.options,
    /** undefined while it is being read, and if the file is too large for one. */
    preview,
    reading: loading,
    /** What the file holds, which not every error tells. */
    contents: contents.current,
    /** Those that the user has chosen, or that the server has found. */
    options: selected.options.dialect ? fromHttp(preview?.options ?? {}, READING) : selected.options,
    /** Why the file can't be read with these options, and so can't be uploaded. */
    problems: error === undefined ? faults : problemsOf(error),
  }
  return {
    chosen,
    refusal,
    choose(file: File) {
      const kind = kindOf(file.name)
      contents.current = {}
      const foreign = foreignNamed(file.name)
      setRefusal(kind ? undefined : `${file.name}: ${foreign ?? NOT_SUPPORTED}`)
      setSelected(kind && { file, kind, options: optionsFor(kind.format, stored), types: new Map() })
    },
    /** @param isOwn whether the file brings its own columns, so that it is read as if it were the first */
    readAtFirst(isOwn: boolean) {
      if (!selected || !stored) return
      setSelected({
        ...selected,
        options: optionsFor(selected.kind.format, isOwn ? {} : stored),
        types: new Map(),
      })
    },
    /** @param types those of columns that the user keeps */
    readWith(options: UploadOptions, types: Selection['types'] = new Map()) {
      if (selected) setSelected({ ...selected, options, types })
    },
    setType(column: string, type: ColumnType) {
      if (selected) setSelected({ ...selected, types: new Map(selected.types).set(column, type) })
    },
  }
}

/** How a file is read at first: as the last one of the dataset, or by what it shows itself. */
function optionsFor(format: FileKind['format'], stored: Dataset['uploadOptions'] = {}): UploadOptions {
  const known = storedFor(format, stored)
  return Object.keys(known).length > 0 ? known : hasDialect(format) ? { dialect: 'auto' } : {}
}

/** How much of a text file is sent for its preview. */
const HEAD_BYTES = 1 << 20
/** Files of other formats can only be read whole. Larger ones have no preview. */
const MOST_BYTES = 32 << 20

/** What the server finds in a file, or in its beginning; undefined if it is too large to be sent only for a look. */
async function previewFile({ file, kind, options }: Selection, signal: AbortSignal) {
  const { datasets } = api()
  const { format, gzip } = kind
  if (format === 'csv' || format === 'tsv' || format === 'ndjson') {
    const { bytes, whole } = await headOf(file, gzip)
    return datasets.preview({ format, body: bytes, options }, { beginning: !whole, signal })
  }
  if (file.size > MOST_BYTES) return undefined
  return datasets.preview({ format, body: file, gzip, options }, { signal })
}

/** The beginning of a text file, unpacked, and whether it is the whole file. */
async function headOf(file: File, gzip: boolean): Promise<{ bytes: Blob; whole: boolean }> {
  if (!gzip) return { bytes: file.slice(0, HEAD_BYTES), whole: file.size <= HEAD_BYTES }
  const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader()
  const chunks: Uint8Array<ArrayBuffer>[] = []
  for (let length = 0; length < HEAD_BYTES; ) {
    const { value, done } = await reader.read()
    if (done) return { bytes: new Blob(chunks), whole: true }
    chunks.push(value)
    length += value.byteLength
  }
  await reader.cancel()
  return { bytes: new Blob(chunks), whole: false }
}

/** What to do with existing rows. `columns` replaces rows and columns together. */
type Mode = 'append' | 'replace' | 'columns'

/** What the user wants of a file. */
export interface Goal {
  /** What a new dataset is called. */
  readonly name: string
  /** The id of its repository; '' for one that is to be made, too. */
  readonly home: string
  readonly mode: Mode
  /** What the user accepts of a file with other columns, once the server has said so. */
  readonly accepted?: Accepted
}

/** Whether columns that the file lacks are left empty, and whether its new ones are added. */
interface Accepted {
  readonly leavesEmpty?: boolean
  readonly addsColumns?: boolean
}

/** What the user may accept so that a file is taken, in the words of its button. */
interface WayOut {
  readonly says: string
  readonly accepted: Accepted
}

/** Sends a file, one at a time. `share` is what has been sent, undefined if nothing is under way. */
export function useSending() {
  const [share, setShare] = useState<number>()
  const [problems, setProblems] = useState<readonly string[]>([])
  const [wayOut, setWayOut] = useState<WayOut>()
  const controller = useRef<AbortController>(undefined)
  const cancel = () => controller.current?.abort()
  useEffect(() => cancel, [])
  const send = async (chosen: Chosen, target: Dataset | undefined, goal: Goal) => {
    controller.current = new AbortController()
    const { signal } = controller.current
    setShare(0)
    setProblems([])
    setWayOut(undefined)
    try {
      const { id, name, rowCount, version } = await commit(chosen, target, goal, signal, setShare)
      announce(`${name} now has ${plural(rowCount ?? 0, 'row')}.`, target && (() => takeBack(id, version)))
      navigate(href(['datasets', id]))
    } catch (error) {
      setShare(undefined)
      if (signal.aborted) return
      setWayOut(wayOutOf(error, goal))
      setProblems(problemsOf(error))
    }
  }
  /** Lets the user leave a file with other columns. */
  const drop = () => {
    setWayOut(undefined)
    setProblems([])
  }
  return { share, problems, wayOut, send, cancel, drop }
}

function wayOutOf(error: unknown, { mode, accepted }: Goal): WayOut | undefined {
  if (!(error instanceof ParquetryError)) return undefined
  if (error.code === 'missing_columns')
    return { says: 'Leave these columns empty', accepted: { ...accepted, leavesEmpty: true } }
  if (mode === 'append' && error.details.hints?.includes('columns=add'))
    return { says: 'Add these columns', accepted: { ...accepted, addsColumns: true } }
  return undefined
}

async function commit(
  { file, kind, preview, sent, types }: Chosen,
  existing: Dataset | undefined,
  { name, home, mode, accepted }: Goal,
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<Dataset> {
  // Declare types only if the user has changed one; otherwise the server infers them from the whole file.
  const declared = (preview?.columns ?? []).map(({ name, type }) => ({ name, type: types.get(name) ?? type }))
  const columns = types.size > 0 ? { columns: declared } : {}
  const target = existing?.id ?? { name, repositoryId: await chosenRepository(home), ...columns }
  const upload = {
    ...kind,
    body: file,
    options: {
      ...sent,
      ...(mode === 'columns' && { columns: 'replace' as const }),
      ...(accepted?.leavesEmpty && { missing: 'null' as const }),
      ...(accepted?.addsColumns && { columns: 'add' as const }),
    },
  }
  const { datasets } = api(fetchWithProgress(onProgress))
  return store(target, (id) => datasets[mode === 'append' ? 'append' : 'replace'](id, upload, { signal }))
}

/**
 * A `fetch` that reports the progress of uploads. It uses XMLHttpRequest, because `fetch` can't report that.
 *
 * @param onProgress share of the bytes sent, 0 to 1; at 1 the server still has to check and store the rows
 */
function fetchWithProgress(onProgress: (share: number) => void): typeof fetch {
  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      request.open(init.method ?? 'GET', String(input))
      new Headers(init.headers).forEach((value, name) => {
        request.setRequestHeader(name, value)
      })
      request.upload.onprogress = (event) => {
        if (event.lengthComputable) onProgress(event.loaded / event.total)
      }
      request.onload = () => resolve(answerOf(request))
      request.onerror = () => reject(new TypeError('The connection broke off.'))
      request.onabort = () => reject(init.signal?.reason)
      init.signal?.addEventListener('abort', () => request.abort())
      request.send(init.body as XMLHttpRequestBodyInit | null)
    })
}

function answerOf(request: XMLHttpRequest): Response {
  const lines = request.getAllResponseHeaders().trim().split('\r\n')
  const headers = lines.map((line) => line.split(/: (.*)/s, 2) as [string, string])
  // Some statuses allow no body, not even an empty one.
  return new Response(request.responseText || null, { status: request.status, headers })
}

/** What is wrong with an upload. */
function problemsOf(error: unknown): string[] {
  if (!(error instanceof ParquetryError)) return [messageOf(error)]
  if (error.errors.length > 0) return error.errors.map(inConsole)
  return [inConsole({ error: messageOf(error), hints: error.details.hints })]
}

/** What the controls of options are called. */
export const LABELS = {
  delimiter: 'Between fields',
  decimal: 'Decimal sign',
  thousands: 'Between thousands',
  encoding: 'Characters',
  dates: 'Dates',
  skip: 'Lines above it',
  headerRows: 'Rows with names',
  footer: 'Rows at the end to leave out',
  nulls: 'Texts for missing values',
  booleans: 'Words for true and false',
  zone: 'Zone of times that do not say theirs',
} as const

/** An option of an upload, by the name of its control. */
export function labelled(name: string, value: string): string {
  if (name === 'columns') return value === 'add' ? '“Add these columns”' : '“Replace columns too”'
  const label = (LABELS as Readonly<Record<string, string>>)[name]
  if (label === undefined) return value === '' ? name : `${name}=${value}`
  return value === '' ? `“${label}”` : `“${label}: ${value}”`
}

/** A sentence about an upload, with options named as their controls are. */
function inConsole({
  error,
  hints,
}: {
  readonly error: string
  readonly hints?: readonly string[] | undefined
}) {
  return withOptions(error, hints, labelled)
}
