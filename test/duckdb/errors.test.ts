import { expect, onTestFinished, test, vi } from 'vitest'
import { engineError } from '../../engine/duckdb/errors.ts'
import { storageError } from '../../engine/errors.ts'
import { plainError, revivedError } from '../../engine/util/plain-error.ts'
import { errorAnswer } from '../../server/http/errors.ts'

test.for([
  ['IO Error: Could not write all bytes to file "x": wrote=1/2 (No space left on device)', 'storage_full'],
  ['IO Error: Could not write file "x": Disk quota exceeded', 'storage_full'],
  ['IO Error: Could not write file "x": File too large', 'storage_full'],
  ['IO Error: Could not read from file "x": Input/output error', 'storage_failed'],
  [
    'IO Error: Cannot open file "/tmp/duckdb_temp_block-1.block": No such file or directory',
    'storage_failed',
  ],
  ['IO Error: Cannot open file "x": Too many open files', 'too_many_open_files'],
  ['IO Error: Cannot open file "x": Permission denied', 'storage_read_only'],
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

test.for([
  ['ENOSPC', 'storage_full'],
  ['EDQUOT', 'storage_full'],
  ['EFBIG', 'storage_full'],
  ['EACCES', 'storage_read_only'],
  ['EROFS', 'storage_read_only'],
  ['EMFILE', 'too_many_open_files'],
  ['ENFILE', 'too_many_open_files'],
  ['ENOMEM', 'overloaded'],
  ['EIO', 'storage_failed'],
  ['ENOENT', 'storage_failed'],
] as const)('%s of the file system is %s, also after another thread has sent it or a disposal failed', ([
  name,
  code,
]) => {
  const fault = Object.assign(new Error(`${name}: open '/x'`), { code: name })
  const suppressed = new SuppressedError(fault, new Error('the first'))
  for (const error of [fault, suppressed]) {
    expect(storageError(error)).toMatchObject({ code, cause: fault })
    const { message } = storageError(error) as Error
    const revived = storageError(revivedError(structuredClone(plainError(error))))
    expect(revived).toMatchObject({ code, message, cause: { message: fault.message } })
    expect(errorAnswer(error)).toMatchObject({
      status: 503,
      headers: { 'retry-after': '5' },
      body: { code, error: message },
    })
  }
})

test('faults are told without the class of errors that disposals throw, which Node 22 does not have', () => {
  vi.stubGlobal('SuppressedError', undefined)
  onTestFinished(() => void vi.unstubAllGlobals())
  const fault = Object.assign(new Error(`ENOSPC: open '/x'`), { code: 'ENOSPC' })
  const suppressed = Object.assign(new Error('at disposal'), { name: 'SuppressedError', error: fault })
  for (const error of [fault, suppressed]) expect(storageError(error)).toMatchObject({ code: 'storage_full' })
})

test('what is about values stays as it is', () => {
  const error = new Error('Conversion Error: offload "x" is no number')
  expect(engineError(error, 'query')).toBe(error)
})
