import { expect, test } from 'vitest'
import type { UploadOptions } from '../../engine/index.ts'
import { bytesOf, newDataset, openWorkplace } from './workplace.ts'

test('options of an upload that are unknown, or for other formats, are refused', async () => {
  await using place = await openWorkplace()
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
    'invalid_option: nanoseconds is for parquet and arrow; the format is csv.',
  )
  expect(await refusal('csv', { separator: ';' } as never)).toMatch(
    /^invalid_option: Unknown option "separator"; known are nulls, delimiter, /,
  )
  expect(await refusal('csv', { delimiter: undefined, nulls: ['NA'] } as never)).toBe('accepted')
})
