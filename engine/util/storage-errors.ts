import { EngineError } from '../errors.ts'

const NO_ROOM: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** Whether an error, of the file system or of DuckDB, says that a disk, a quota or the limit of a file is full. */
export function isStorageFull(error: unknown): boolean {
  const { code, message = '' } = error as { code?: string; message?: string }
  return NO_ROOM.has(code) || /No space left on device|Disk quota exceeded|File too large/.test(message)
}

export const READ_ONLY =
  'The data directory can not be written to: it is read-only, or belongs to another user. Nothing was changed.'

/**
 * Turns the error of a full disk or quota into `storage_full`, that of a read-only folder into `storage_read_only`, and
 * returns all others as they are. For operations that write and are undone when they fail, since the messages say that
 * nothing was changed.
 */
export function storageError(error: unknown): unknown {
  if (isStorageFull(error)) {
    return new EngineError('storage_full', 'The disk is full. Nothing was changed.', { cause: error })
  }
  const { code = '' } = error as { code?: string }
  const isReadOnly = ['EROFS', 'EACCES', 'EPERM'].includes(code)
  return isReadOnly ? new EngineError('storage_read_only', READ_ONLY, { cause: error }) : error
}
