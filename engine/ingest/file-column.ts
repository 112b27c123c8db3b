import type { Duck } from '../duckdb/duck.ts'
import { EngineError, hint, invalidOption } from '../errors.ts'
import { readParts } from '../parquet/read-parts.ts'
import { TemporaryFile } from '../util/whole-file.ts'
import { writePart } from './parts/part.ts'
import type { FileColumn, IngestResult, ReadRequest } from './request.ts'
import { knownColumns, layColumns, type Target } from './targets.ts'

/**
 * Reads an upload, and gives its rows one more column with the name of the file: where the dataset has it, else last.
 * @param read reads the upload without it
 * @throws EngineError `invalid_option` if the file has no name, or has the column itself; `column_conflict` where the
 * dataset has no such column of text
 */
export async function withFileColumn(
  duck: Duck,
  request: ReadRequest,
  { column: name, name: fileName }: FileColumn,
  read: (request: ReadRequest) => Promise<IngestResult>,
): Promise<IngestResult> {
  if (fileName === undefined) {
    throw invalidOption(
      `${hint('fileColumn')} needs the name of the file: ${hint('fileName=jan.csv')}.`,
      'fileName',
    )
  }
  const { existing = [], declared = [], key = [], target } = request
  const { nullable, type: _, source: _source, ...words } = targetOf(request, name)
  const isOther = (column: { readonly name: string }) => column.name !== name
  const others = existing.filter(isOther)
  if (existing.length === 1 && others.length === 0) throw isThere(name)
  await using part = new TemporaryFile(duck.tempDirectory)
  const result = await read({
    ...request,
    ...{ existing: others, declared: declared.filter(isOther), key: key.filter((one) => one !== name) },
    target: part.path,
  }).catch((error: unknown) => {
    const isOwn = error instanceof EngineError && error.details?.['column'] === name
    throw isOwn && error.code === 'column_conflict' ? isThere(name) : error
  })
  if (!result.columns.every(isOther)) throw isThere(name)
  if (result.unnamed?.marked) {
    throw invalidOption(
      `With fileColumn, rows name all columns, or ${hint('missing=null')} is given.`,
      'missing',
    )
  }
  const found = existing.findIndex((column) => !isOther(column))
  const at = found < 0 ? result.columns.length : found
  const placed = (index: number) => (index < at ? index : index + 1)
  const columns = result.columns.toSpliced(at, 0, { nullable, type: 'string', ...words })
  const selected = result.columns.map((_, index) => `c${index} AS c${placed(index)}`)
  const select = `SELECT ${selected.toSpliced(at, 0, `$1 AS c${at}`).join(', ')} FROM ${readParts([part.path])}`
  const rawBytes = result.rawBytes + result.rows * Buffer.byteLength(fileName)
  const planned = { rows: result.rows, rawBytes, columns, parameters: [fileName] }
  const { unnamed, reasons } = result
  return {
    ...result,
    ...(await writePart(duck, select, target, planned, request)),
    ...{ columns, rawBytes, reasons: reasons?.toSpliced(at, 0, undefined) },
    unnamed: unnamed && { ...unnamed, all: unnamed.all.map(placed), some: unnamed.some.map(placed) },
  }
}

/** The column as the dataset has it, or as it is added. */
function targetOf(request: ReadRequest, name: string): Target {
  const { declared = [] } = request
  const known = knownColumns(
    request,
    declared.filter((column) => column.name === name),
  )
  const columns = known.columns.filter((column) => column.name === name)
  return layColumns({ ...known, columns, missing: 'keep', key: [] }, [name], ['string'])[0]!
}

function isThere(name: string): EngineError {
  return invalidOption(
    `The file itself has a column ${JSON.stringify(name)}: name another one with ${hint('fileColumn=')}.`,
    'fileColumn',
  )
}
