import type { JobId, Jobs } from './jobs.ts'
import type { PlainError } from './plain-error.ts'

/** A message from the server's process to a reader. */
export type ToReader =
  | { readonly kind: 'run'; readonly job: JobId; readonly name: keyof Jobs; readonly input: unknown }
  | { readonly kind: 'abort'; readonly job: JobId }
  /** The first `bytes` of the file that a job reads have arrived; `WHOLE` stands for all of them. */
  | { readonly kind: 'arrived'; readonly job: JobId; readonly bytes: number }

/** A message from a reader to the server's process. */
export type FromReader =
  | { readonly kind: 'ready' }
  | { readonly kind: 'progress'; readonly job: JobId; readonly done: { bytes: number; rows?: number } }
  | { readonly kind: 'done'; readonly job: JobId; readonly result: unknown; readonly usage: Usage }
  | { readonly kind: 'failed'; readonly job: JobId; readonly error: PlainError; readonly usage: Usage }
  | { readonly kind: 'usage'; readonly usage: Usage }

/** The memory and CPU time that a reader uses. */
export interface Usage {
  /** The bytes of resident memory at present. */
  readonly memory: number
  /** Seconds of CPU time of all threads since the process began. */
  readonly cpu: number
}
