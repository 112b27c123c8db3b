import { EngineError } from '../errors.ts'

/** Whether an error, of the file system or of DuckDB, says that a disk or a quota is full. */
export function isStorageFull(error: unknown): boolean {
  const { code, message = '' } = error as { code?: string; message?: string }
  return code === 'ENOSPC' || code === 'EDQUOT' || /No space left on device|Disk quota exceeded/.test(message)
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
