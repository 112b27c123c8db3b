import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { UploadOptions } from '../../engine/index.ts'
import { bytesOf, newDataset, useWorkplace } from './workplace.ts'

const place = useWorkplace()

test('options of an upload that are unknown, or for other formats, are refused', async () => {
  const dataset = await newDataset(place.engine)
  const refusal = (format: 'csv' | 'json', options: UploadOptions) =>
    dataset.replace({ format, body: bytesOf('a\n1\n'), options }).then(
      () => 'accepted',
      ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
    )
  expect(await refusal('json', { delimiter: ';' })).toBe(
    'invalid_option: delimiter is for csv and tsv; the format is json.',
  )
  expect(await refusal('csv', { nanoseconds: 'truncate' })).toBe(
    'invalid_option: nanoseconds is for parquet, arrow, avro and duckdb; the format is csv.',
  )
  expect(await refusal('csv', { separator: ';' } as never)).toMatch(
    /^invalid_option: Unknown option "separator". Valid options: nulls, textNulls, empty, delimiter, /,
  )
  const wrong = (options: object) => refusal('csv', options as never)
  expect(await wrong({ nulls: 'NA' })).toBe('invalid_option: nulls must be a list of texts (got "NA").')
  expect(await wrong({ delimiter: '||' })).toMatch(
    /^invalid_option: delimiter must be one character, .* \(got "\|\|"\)\.$/,
  )
  expect(await wrong({ encoding: 'cp437' })).toBe(
    'invalid_option: encoding must be "utf-8" or "windows-1252" or "latin1" or "utf-16" or "windows-1250" or "windows-1251" or "macintosh" or "shift_jis" or "gb18030" or "big5" or "euc-kr" (got "cp437").',
  )
  expect(await wrong({ header: false })).toBe(
    'invalid_option: header must be "present" or "absent" (got false).',
  )
  expect(await wrong([])).toBe('invalid_option: Options are an object, not [].')
  expect(await refusal('csv', { delimiter: undefined, nulls: ['NA'] } as never)).toBe('accepted')
})

test('uploads of an unknown format, and with misspelt fields, are refused', async () => {
  const dataset = await newDataset(place.engine)
  const upload = (given: object) => dataset.replace({ body: bytesOf('a\n1\n'), ...given } as never)
  await expect(upload({ format: 'xml' })).rejects.toMatchObject({
    code: 'unsupported_format',
    message:
      'Uploads have no format "xml"; known are csv, tsv, json, ndjson, parquet, arrow, xlsx, xls, xlsb, ods, html, avro, sqlite, duckdb, sav, px, zip.',
  })
  for (const body of ['a\n1\n', { file: 5 }, undefined]) {
    await expect(upload({ format: 'csv', body })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/^body is bytes, a file, /),
    })
  }
  await expect(upload({ format: 'csv', body: Readable.from(['a\n1\n']) })).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringMatching(/^body must give bytes \(Uint8Array\), but gives a string\. /),
  })
  // An option of the csv, which belongs into `options`.
  await expect(upload({ format: 'csv', delimiter: ';' })).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringMatching(/^Unknown option "delimiter". Valid options: body, format, /),
  })
})

test('options of an export that are unknown are refused', async () => {
  const dataset = await newDataset(place.engine)
  using query = await dataset.query()
  const refusal = (message: string) => ({ code: 'invalid_option', message: expect.stringContaining(message) })
  await expect(query.bytes('csv', { delimiter: ';' } as never)).rejects.toMatchObject(
    refusal('Unknown option "delimiter". Valid options: signal, dialect, '),
  )
  await expect(query.bytes('csv', { dialect: { separator: ';' } } as never)).rejects.toMatchObject(
    refusal('Unknown option "separator". Valid options: bom, delimiter, '),
  )
})

test('a file that is not there, or is a folder, is an error of the caller', async () => {
  const dataset = await newDataset(place.engine)
  const missing = { code: 'invalid_option', message: 'The file "no.csv" does not exist.' }
  const upload = { format: 'csv', body: { file: 'no.csv' } } as const
  await expect(dataset.replace(upload)).rejects.toMatchObject(missing)
  await expect(dataset.append(upload)).rejects.toMatchObject(missing)
  await expect(place.engine.preview(upload)).rejects.toMatchObject(missing)
  await expect(dataset.append({ format: 'csv', body: { file: '.' } })).rejects.toMatchObject({
    message: 'The file "." is a folder.',
  })
})
