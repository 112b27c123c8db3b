import { useRef, useState } from 'preact/hooks'
import { fromHttp, READING } from '../../../../engine/options.ts'
import type { ColumnType, UploadOptions } from '../../../client/index.ts'
import { api, messageOf } from '../api.ts'
import { useResource } from '../ui/resource.tsx'
import { type FileKind, kindOf } from './formats.ts'

const NOT_SUPPORTED =
  ': this kind of file is not supported. Use csv, tsv, json, ndjson, parquet, arrow or xlsx; text formats may be compressed as .gz.'

interface Asked {
  readonly file: File
  readonly kind: FileKind
  readonly options: UploadOptions
  /** Types that the user has changed, by the names of columns. */
  readonly types: ReadonlyMap<string, ColumnType>
}

/** A file that the user has chosen, and what the server has found in it. */
export type Chosen = NonNullable<ReturnType<typeof useChosen>['chosen']>

/** The chosen file. Its preview is read again when the user changes how the file is read. */
export function useChosen() {
  const [asked, setAsked] = useState<Asked>()
  const [refusal, setRefusal] = useState<string>()
  const sheets = useRef<readonly string[]>([])
  const { loading, value, error } = useResource(
    async (signal) => {
      const found = asked && { file: asked.file, preview: await previewFile(asked, signal) }
      sheets.current = found?.preview?.sheets ?? sheets.current
      return found
    },
    [asked?.file, asked?.options],
  )
  const preview = error === undefined && value?.file === asked?.file ? value?.preview : undefined
  const faults = preview?.errors.map((fault) => fault.error) ?? []
  const chosen = asked && {
    ...asked,
    /** undefined while it is being read, and if the file is too large for one. */
    preview,
    reading: loading,
    /** The names of a workbook's sheets, which not every error tells. */
    sheets: sheets.current,
    /** Those that the user has chosen, or that the server has found. */
    options: asked.options.dialect ? fromHttp(preview?.options ?? {}, READING) : asked.options,
    /** Why the file can't be read with these options, and so can't be uploaded. */
    problems: error === undefined ? faults : [messageOf(error)],
  }
  return {
    chosen,
    refusal,
    choose(file: File) {
      const kind = kindOf(file.name)
      const isText = kind?.format === 'csv' || kind?.format === 'tsv'
      sheets.current = []
      setRefusal(kind ? undefined : `${file.name}${NOT_SUPPORTED}`)
      setAsked(kind && { file, kind, options: isText ? { dialect: 'auto' } : {}, types: new Map() })
    },
    readWith(options: UploadOptions) {
      if (asked) setAsked({ ...asked, options, types: new Map() })
    },
    setType(column: string, type: ColumnType) {
      if (asked) setAsked({ ...asked, types: new Map(asked.types).set(column, type) })
    },
  }
}

/** How much of a text file is sent for its preview. */
const HEAD_BYTES = 1 << 20
/** Files of other formats can only be read whole. Larger ones have no preview. */
const MOST_BYTES = 32 << 20

/** What the server finds in a file, or in its beginning; undefined if it is too large to be sent only for a look. */
async function previewFile({ file, kind, options }: Asked, signal: AbortSignal) {
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
