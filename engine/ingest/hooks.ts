/** The signal that ends a job or one of its passes over an upload, and the callback for its progress. */
export interface Hooks {
  readonly signal?: AbortSignal
  /** Is called with the bytes of the file that have been read so far, and with the rows where they are known. */
  readonly onProgress?: (done: { bytes: number; rows?: number }) => void
}
