import { useRef, useState } from 'preact/hooks'
import { fromHttp, READING } from '../../../../engine/options.ts'
import type { ColumnType, Preview, UploadOptions } from '../../../client/index.ts'
import { api, messageOf } from '../api.ts'
import { type FileKind, kindOf } from './formats.ts'

const NOT_SUPPORTED =
  ': this kind of file is not supported. Use csv, tsv, json, ndjson, parquet, arrow or xlsx; text formats may be compressed as .gz.'

/** A file that the user has chosen, and what the server has found in it. */
export interface Chosen {
  readonly file: File
  readonly kind: FileKind
  /** undefined while it is being read, and if the file is too large for one. */
  readonly preview: Preview | undefined
  readonly reading: boolean
  readonly options: UploadOptions
  /** The names of a workbook's sheets. */
  readonly sheets: readonly string[]
  /** Why the file can't be read with these options, and so can't be uploaded. */
  readonly problems: readonly string[]
  /** Types that the user has changed, by the names of columns. */
  readonly types: ReadonlyMap<string, ColumnType>
}

/** The chosen file. Its preview is read again when the user changes how the file is read. */
export function useChosen() {
  const [chosen, setChosen] = useState<Chosen>()
  const [refusal, setRefusal] = useState<string>()
  const latest = useRef<object>(undefined)

  const look = async (begun: Chosen, options: UploadOptions) => {
    latest.current = begun
    // Show the setting at once, before the new preview is ready, because the user may be typing.
    setChosen(begun)
    const found = await read(begun, options)
    if (latest.current === begun) setChosen({ ...begun, ...found, reading: false })
  }
  return {
    chosen,
    refusal,
    async choose(file: File) {
      const kind = kindOf(file.name)
      setChosen(undefined)
      setRefusal(kind ? undefined : `${file.name}${NOT_SUPPORTED}`)
      if (!kind) return
      const isText = kind.format === 'csv' || kind.format === 'tsv'
      const begun = { file, kind, options: {}, sheets: [], problems: [], types: new Map(), reading: true }
      await look({ ...begun, preview: undefined }, isText ? { dialect: 'auto' } : {})
    },
    async readWith(options: UploadOptions) {
      if (chosen) await look({ ...chosen, options, types: new Map(), reading: true }, options)
    },
    setType(column: string, type: ColumnType) {
      if (chosen) setChosen({ ...chosen, types: new Map(chosen.types).set(column, type) })
    },
  }
}

async function read(
  { file, kind, sheets }: Chosen,
  options: UploadOptions,
): Promise<Pick<Chosen, 'preview' | 'options' | 'sheets' | 'problems'>> {
  try {
    const preview = await previewFile(file, kind, options)
    if (!preview) return { preview, options, sheets, problems: [] }
    return {
      preview,
      options: options.dialect ? fromHttp(preview.options, READING) : options,
      sheets: preview.sheets ?? sheets,
      problems: preview.errors.map(({ error }) => error),
    }
  } catch (error) {
    return { preview: undefined, options, sheets, problems: [messageOf(error)] }
  }
}

/** How much of a text file is sent for its preview. */
const HEAD_BYTES = 1 << 20
/** Files of other formats can only be read whole. Larger ones have no preview. */
const MOST_BYTES = 32 << 20

/** What the server finds in a file, or in its beginning; undefined if it is too large to be sent only for a look. */
async function previewFile(
  file: File,
  { format, gzip }: FileKind,
  options: UploadOptions,
): Promise<Preview | undefined> {
  const { datasets } = api()
  if (format === 'csv' || format === 'tsv' || format === 'ndjson') {
    const { bytes, whole } = await headOf(file, gzip)
    return datasets.preview({ format, body: bytes, options }, { beginning: !whole })
  }
  if (file.size > MOST_BYTES) return undefined
  return datasets.preview({ format, body: file, gzip, options })
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
