import { EngineError } from '../errors.ts'

/** Whether an error, of the file system or of DuckDB, says that a disk or a quota is full. */
export function isStorageFull(error: unknown): boolean {
  const { code, message = '' } = error as { code?: string; message?: string }
  return code === 'ENOSPC' || code === 'EDQUOT' || /No space left on device|Disk quota exceeded/.test(message)
}

/**
 * Turns the error of a full disk or quota into `storage_full`, and returns all others as they are. For operations that
 * are undone when they fail, since the message says that nothing was changed.
 */
export function storageFull(error: unknown): unknown {
  return isStorageFull(error)
    ? new EngineError('storage_full', 'The disk is full. Nothing was changed.', { cause: error })
    : error
}
