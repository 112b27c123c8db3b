import type { EngineError } from '../../errors.ts'
import { chunksOf, FIELD, groupsOf, listOf, metasOf, numberOf } from '../../parquet/footer.ts'
import { PHYSICAL, type SchemaElement, schemaOf } from '../../parquet/schema.ts'
import type { Struct } from '../../parquet/thrift.ts'
import { malformed } from '../text/errors.ts'

const MOST_DIGITS = 38

const refused = (column: string, what: string): EngineError =>
  malformed(`Column ${JSON.stringify(column)} ${what}`, { column })

/**
 * Refuses what DuckDB does not read, or reads as something else: decimals of more digits than it has, fields that it
 * renames or whose names are missing, objects of one field that it leaves out, BSON, and encodings.
 * @throws EngineError `invalid_upload` that names the column
 */
export function refuseUnreadable(schema: readonly SchemaElement[], file: Struct): void {
  const columns = schema.filter(({ isColumn }) => isColumn)
  const fields = new Map<string, string>()
  for (const { name, column, isColumn, parent, precision, meaning, isSingleField } of schema) {
    const outer = columns[column]!.name
    if (isSingleField) {
      throw refused(
        outer,
        'has a list of objects with a single field, without the annotation LIST or in an old form, which DuckDB reads ' +
          'as a list of values. Write it anew with a recent version of pyarrow, polars, Spark or DuckDB.',
      )
    }
    if (precision > MOST_DIGITS) {
      throw refused(outer, `holds decimals of ${precision} digits; the most are ${MOST_DIGITS}.`)
    }
    if (meaning === 'bson')
      throw refused(outer, 'is BSON. Send it as JSON, or as bytes without that annotation.')
    if (isColumn) continue
    if (name === '') {
      throw refused(
        outer,
        'has a field without a name within it, which DuckDB does not read. Give it a name.',
      )
    }
    // DuckDB ignores the case of these letters only: it tells É and é apart.
    const key = `${parent} ${name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())}`
    const other = fields.get(key)
    if (other !== undefined) {
      throw refused(
        outer,
        `has the fields ${JSON.stringify(other)} and ${JSON.stringify(name)} within it, which differ at most by case. ` +
          'Fields in Parquet need other names; Arrow and JSON may have such fields.',
      )
    }
    fields.set(key, name)
  }
  refuseEncodings(columns, schema, file)
}

const BYTE_STREAM_SPLIT = 9
/** Names of parquet.thrift, by their numbers. Those of encodings that DuckDB reads are empty. */
const ENCODINGS = [...Array.from({ length: BYTE_STREAM_SPLIT }, () => ''), 'BYTE_STREAM_SPLIT']
const CODECS: Readonly<Record<number, string>> = { 3: 'LZO', 5: 'LZ4 in the former framing of Hadoop' }
/** As what columns of a physical type are called that are not numbers. */
const BYTES: Readonly<Record<number, string>> = { [PHYSICAL.fixed]: 'bytes of fixed length' }

function refuseEncodings(
  columns: readonly SchemaElement[],
  schema: readonly SchemaElement[],
  file: Struct,
): void {
  const leaves = schema.filter(({ physical }) => physical !== undefined)
  for (const group of groupsOf(file)) {
    for (const [index, meta] of metasOf(group).entries()) {
      const leaf = leaves[index]
      if (!leaf) return
      const { column, name, isColumn, physical = -1 } = leaf
      const outer = columns[column]!.name
      const is = isColumn ? 'is' : `has a field ${JSON.stringify(name)}`
      const split = physical === PHYSICAL.float || physical === PHYSICAL.double
      for (const encoding of listOf(meta, FIELD.meta.encodings).values as number[]) {
        if (encoding in ENCODINGS && (ENCODINGS[encoding] === '' || split)) continue
        throw refused(
          outer,
          `${is} in the encoding ${ENCODINGS[encoding] ?? `number ${encoding}`}, which DuckDB ` +
            (encoding === BYTE_STREAM_SPLIT
              ? `reads only for float and double, and not for ${BYTES[physical] ?? 'integers'}`
              : 'does not read') +
            '. Write the file with the encoding PLAIN or with dictionaries.',
        )
      }
      const codec = CODECS[numberOf(meta, FIELD.meta.codec)]
      if (codec) throw refused(outer, `${is} compressed with ${codec}. Write the file with zstd or snappy.`)
    }
  }
}

/** @throws EngineError `invalid_upload` if columns of a file are encrypted, whose footer is not */
export function refuseEncrypted(file: Struct): void {
  if (!file.has(FIELD.file.encryption)) return
  const [group] = groupsOf(file)
  const names = schemaOf(file).filter(({ isColumn }) => isColumn)
  const leaves = schemaOf(file).filter(({ physical }) => physical !== undefined)
  const encrypted = leaves.filter((_, index) => group && chunksOf(group)[index]?.has(FIELD.chunk.crypto))
  const [first] = encrypted
  throw first
    ? refused(names[first.column]!.name, 'is encrypted.')
    : malformed('The Parquet file is encrypted.')
}
