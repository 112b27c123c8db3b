import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { beforeAll, expect, test } from 'vitest'
import { ZipFile } from 'yazl'
import { Ingestor } from '../../engine/ingest/ingestor.ts'
import { useBench } from './support/helper.ts'

const bench = useBench()
/** What a reader may use on the smallest machine. */
const MEMORY = 768 * 2 ** 20
beforeAll(() => {
  bench.ingestor = new Ingestor({ tempDirectory: bench.temporary, folders: [bench.folder], memory: MEMORY })
})

/** An OpenDocument spreadsheet whose content never is in memory as a whole. */
async function ods(rows: number): Promise<string> {
  const file = bench.path('.ods')
  const number = (value: number) => `<table:table-cell office:value-type="float" office:value="${value}"/>`
  const text = (value: string) =>
    `<table:table-cell office:value-type="string"><text:p>${value}</text:p></table:table-cell>`
  const day = (value: string) => `<table:table-cell office:value-type="date" office:date-value="${value}"/>`
  function* content() {
    yield '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet><table:table table:name="s">'
    yield `<table:table-row>${[...'abcdefghij'].map(text).join('')}</table:table-row>`
    for (let at = 0; at < rows; at += 1000) {
      yield Array.from({ length: Math.min(1000, rows - at) }, (_, index) => {
        const n = at + index
        const numbers = [n, n * 1.1, n % 7, n ** 2, -n].map(number).join('')
        const texts = [`text ${n}`, `${n % 100}`, 'the same', `longer ${'x'.repeat(n % 30)}`]
          .map(text)
          .join('')
        return `<table:table-row>${numbers}${texts}${day('2024-02-29')}</table:table-row>`
      }).join('')
    }
    yield '</table:table></office:spreadsheet></office:body></office:document-content>'
  }
  const zip = new ZipFile()
  zip.addBuffer(Buffer.from('application/vnd.oasis.opendocument.spreadsheet'), 'mimetype', {
    compress: false,
  })
  zip.addReadStream(Readable.from(content()), 'content.xml', { compressionLevel: 1 })
  zip.end()
  await pipeline(zip.outputStream, createWriteStream(file))
  return file
}

test('an ods of 500,000 rows and 10 columns is read in the memory that a reader has', async () => {
  const { rows, columns } = await bench.ingest('ods', await ods(500_000))
  expect([rows, columns.length]).toEqual([500_000, 10])
}, 300_000)

test('an HTML table of 60,000 rows and 10 columns, too', async () => {
  const row = (n: number) =>
    `<tr>${Array.from('abcdefghij', (_, at) => `<td align="right">${n * at}</td>`).join('')}</tr>`
  const pieces = Array.from({ length: 60 }, (_, k) =>
    Buffer.from(Array.from({ length: 1000 }, (_, at) => row(1000 * k + at)).join('\n')),
  )
  const head = `<table><tr>${Array.from('abcdefghij', (name) => `<th>${name}`).join('')}</tr>`
  const file = bench.file(Buffer.concat([Buffer.from(head), ...pieces, Buffer.from('</table>')]))
  expect((await bench.ingest('xls', file)).rows).toBe(60_000)
}, 300_000)
