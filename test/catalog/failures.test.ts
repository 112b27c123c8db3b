import { expect, it } from 'vitest'
import { isSurelyUndone, isUnwritable, knownError } from '../../engine/catalog/failures.ts'
import { isUnreachable } from '../../engine/catalog/postgres/statements.ts'
import { EngineError } from '../../engine/errors.ts'

const sqlite = (errcode: number) => Object.assign(new Error('of SQLite'), { errcode })

it.each([
  [{ code: '08006' }, 'a connection that failed'],
  [{ code: '28P01' }, 'a wrong password'],
  [{ code: '3D000' }, 'no such database'],
  [{ code: '53300' }, 'too many connections'],
  [{ code: '25P03' }, 'a transaction that was idle for too long'],
  [{ code: '57P01' }, 'a server that stops'],
  [{ code: 'ECONNREFUSED' }, 'nobody who listens'],
  [{ code: 'ENOTFOUND' }, 'an unknown host'],
  [{ code: 'EPIPE' }, 'a connection that is gone'],
  [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, 'an unknown certificate'],
  [{ syscall: 'connect', code: 'EACCES' }, 'a socket that can not be opened'],
  [{ message: 'Connection terminated unexpectedly' }, 'a connection that ended'],
  [new EngineError('outcome_unknown', 'Nobody knows.'), 'a commit without an answer'],
])('%o is a database that can not be reached: %s', (error, _) => {
  expect(isUnreachable(error)).toBe(true)
})

it.each([
  [{ code: '23505' }, 'a key that exists'],
  [{ code: '40001' }, 'a conflict of transactions'],
  [{ code: '42P01' }, 'an unknown table'],
  [{ code: '53100' }, 'a full disk'],
  [{ code: '108006' }, 'a longer code'],
  [{ code: '080069' }, 'a longer code'],
  [{ code: 'ENOENT' }, 'a file that is missing'],
  [{ code: 'XECONNRESET' }, 'a code of somebody else'],
  [{ message: 'syntax error' }, 'a mistake'],
  [new EngineError('not_found', 'There is none.'), 'a request for what is not there'],
])('%o is no database that can not be reached: %s', (error, _) => {
  expect(isUnreachable(error)).toBe(false)
})

it.each([
  [11, 'storage_damaged'],
  [26, 'storage_damaged'],
  [11 + 256, 'storage_damaged'],
  [13, 'storage_full'],
  [4_874, 'storage_full'],
  [8, 'storage_read_only'],
  [14, 'storage_read_only'],
  [10 + 256, 'storage_failed'],
  [7, 'overloaded'],
  [5, 'locked'],
])("SQLite's %i is %s", (code, expected) => {
  expect(knownError(sqlite(code))).toMatchObject({ code: expected })
})

it('other errors of SQLite, and of others, are left as they are', () => {
  for (const error of [sqlite(1), sqlite(19), new Error('of nobody'), undefined])
    expect(knownError(error)).toBe(error)
})

it('a commit that failed changed nothing on a full disk, and perhaps something after another fault of it', () => {
  for (const code of [5, 6, 8, 13, 19, 1, 21]) expect(isSurelyUndone(sqlite(code)), `${code}`).toBe(true)
  for (const code of [10, 10 + 256, 11, 7]) expect(isSurelyUndone(sqlite(code)), `${code}`).toBe(false)
  expect(isSurelyUndone(new Error('of nobody'))).toBe(true)
})

it('a write is refused where nothing can be written, and not where this one can not', () => {
  expect(isUnwritable(new EngineError('storage_full', 'Full.'))).toBe(true)
  expect(isUnwritable(new EngineError('catalog_unavailable', 'Gone.'))).toBe(true)
  expect(isUnwritable(new EngineError('not_found', 'None.'))).toBe(false)
  expect(isUnwritable(new Error('storage_full'))).toBe(false)
})
