/** How a pass over an upload is given up, and who hears how far it is. */
export interface Hooks {
  readonly signal?: AbortSignal
  /** Bytes of the file, and rows where they are known, from its beginning. */
  readonly onProgress?: (done: { bytes: number; rows?: number }) => void
}
