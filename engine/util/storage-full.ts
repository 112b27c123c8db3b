import { EngineError } from '../errors.ts'

/** Whether an error, of the file system or of DuckDB, says that a disk or a quota is full. */
export function isStorageFull(error: unknown): boolean {
  const { code, message = '' } = error as { code?: string; message?: string }
  return code === 'ENOSPC' || code === 'EDQUOT' || /No space left on device|Disk quota exceeded/.test(message)
}

/** A full disk or quota as our error, for what is undone where it fails; everything else as it is. */
export function storageFull(error: unknown): unknown {
  return isStorageFull(error)
    ? new EngineError('storage_full', 'The disk is full. Nothing was changed.', { cause: error })
    : error
}
