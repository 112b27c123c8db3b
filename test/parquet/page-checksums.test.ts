import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { chunkRange, FIELD, listOf, numberOf, structOf } from '../../engine/parquet/footer.ts'
import { fileEnd } from '../../engine/parquet/parquet-file.ts'
import {
  i32,
  i64,
  readStruct,
  readStructFrom,
  type Struct,
  writeStruct,
} from '../../engine/parquet/thrift.ts'
import { useBench } from '../ingest/support/helper.ts'

const bench = useBench()

interface Page {
  readonly column: string
  readonly group: number
  /** Where the page's bytes are in the file, without its header. */
  readonly from: number
  readonly to: number
}

/** Writes a file of two row groups with DuckDB, and adds checksums to its pages as Spark and parquet-mr write them. */
async function written(codec: string, version: string, checksums: boolean) {
  const file = bench.path()
  await bench.query(
    `COPY (SELECT i AS number, i % 7 AS few, 'text ' || i AS "t'ext" FROM range(4096) t(i)) TO '${file}' ` +
      `(FORMAT parquet, COMPRESSION ${codec}, PARQUET_VERSION ${version}, ROW_GROUP_SIZE 2048)`,
  )
  const bytes = readFileSync(file)
  const footerStart = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8)
  const meta = readStruct(bytes.subarray(footerStart, -8))
  const pages: Page[] = []
  const pieces = [bytes.subarray(0, 4)]
  let length = 4
  const add = (piece: Uint8Array) => {
    pieces.push(Buffer.from(piece))
    length += piece.length
  }
  for (const [group, { columns }] of groupsOf(meta).entries()) {
    for (const chunk of columns) {
      const inner = structOf(chunk, FIELD.chunk.metadata)
      const column = Buffer.from(listOf(inner, FIELD.meta.path).values[0] as Uint8Array).toString()
      const { from, to } = chunkRange(chunk)
      const start = length
      const moved = new Map<number, number>()
      for (let at = from; at < to; ) {
        moved.set(at, length)
        const { struct: header, end } = readStructFrom(bytes.subarray(at, to))
        const body = bytes.subarray(at + end, at + end + numberOf(header, 3))
        if (checksums) header.set(4, i32(crc32(body) | 0))
        add(writeStruct(new Map([...header].sort(([a], [b]) => a - b))))
        add(body)
        pages.push({ column, group, from: length - body.length, to: length })
        at += end + body.length
      }
      for (const id of [FIELD.meta.dataOffset, FIELD.meta.dictionaryOffset]) {
        if (inner.has(id)) inner.set(id, i64(moved.get(numberOf(inner, id))!))
      }
      inner.delete(FIELD.meta.bloomOffset)
      inner.delete(FIELD.meta.bloomLength)
      inner.set(FIELD.meta.compressedSize, i64(length - start))
    }
  }
  return { bytes: Buffer.concat([...pieces, fileEnd(writeStruct(meta))]), pages }
}

function groupsOf(meta: Struct) {
  return (listOf(meta, FIELD.file.rowGroups).values as Struct[]).map((group) => ({
    columns: listOf(group, FIELD.group.columns).values as Struct[],
  }))
}

describe.each(['uncompressed', 'snappy', 'gzip', 'zstd'])('pages packed with %s', (codec) => {
  test.each(['V1', 'V2'])('whose bytes have changed are refused (%s)', async (version) => {
    const { bytes, pages } = await written(codec, version, true)
    expect((await bench.read('parquet', bytes)).rows).toBe(4096)
    expect(new Set(pages.map(({ column }) => column)).size).toBe(3)
    for (const { column, group, from, to } of pages) {
      const changed = Buffer.from(bytes)
      changed[(from + to) >> 1]! ^= 1
      expect(await bench.refusal('parquet', changed)).toBe(
        `400 invalid_upload: The Parquet file is damaged: in row group ${group + 1} of 2, a page of the column ` +
          `${JSON.stringify(column)} does not match its checksum.`,
      )
    }
  })
})

test('the checksum at the end of gzip is compared where pages have none', async () => {
  for (const version of ['V1', 'V2']) {
    const { bytes, pages } = await written('gzip', version, false)
    expect((await bench.read('parquet', bytes)).rows).toBe(4096)
    for (const { to } of pages) {
      const changed = Buffer.from(bytes)
      changed[to - 6]! ^= 1
      expect(await bench.refusal('parquet', changed)).toMatch(/ does not match its checksum\.$/)
    }
  }
})
