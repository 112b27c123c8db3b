import { expect, test } from 'vitest'
import { engineError } from '../../engine/duckdb/errors.ts'
import { storageError } from '../../engine/util/storage-errors.ts'

test.for([
  ['IO Error: Could not write all bytes to file "x": wrote=1/2 (No space left on device)', 'storage_full'],
  ['IO Error: Could not write file "x": Disk quota exceeded', 'storage_full'],
  ['IO Error: Could not write file "x": File too large', 'storage_full'],
  ['IO Error: Cannot open file "x": Read-only file system', 'storage_read_only'],
  [
    "Out of Memory Error: failed to offload data block of size 256.0 KiB. This limit was set by the 'max_temp_directory_size' setting.",
    'storage_full',
  ],
  ['Out of Memory Error: failed to allocate data of size 16.0 MiB (1.0 GiB/1.0 GiB used)', 'overloaded'],
] as const)('%s is %s, for queries as for uploads', ([message, code]) => {
  const cause = new Error(message)
  expect(engineError(cause, 'query')).toMatchObject({ code, cause })
  expect(engineError(cause, 'upload')).toMatchObject({ code, cause })
})

test.for(['ENOSPC', 'EDQUOT', 'EFBIG'])('%s of the file system is storage_full, too', (code) => {
  expect(storageError(Object.assign(new Error(code), { code }))).toMatchObject({ code: 'storage_full' })
})

test('what is about values stays as it is', () => {
  const error = new Error('Conversion Error: offload "x" is no number')
  expect(engineError(error, 'query')).toBe(error)
})
