import type { JobId, Jobs } from './jobs.ts'
import type { PlainError } from './plain-error.ts'

/** What the server's process tells a reader. */
export type ToReader =
  | { readonly kind: 'run'; readonly job: JobId; readonly name: keyof Jobs; readonly input: unknown }
  | { readonly kind: 'abort'; readonly job: JobId }
  /** More of the file that a job reads is there; `WHOLE` when all of it is. */
  | { readonly kind: 'arrived'; readonly job: JobId; readonly bytes: number }

/** What a reader tells the server's process. */
export type FromReader =
  | { readonly kind: 'ready' }
  | { readonly kind: 'progress'; readonly job: JobId; readonly done: { bytes: number; rows?: number } }
  | { readonly kind: 'done'; readonly job: JobId; readonly result: unknown; readonly usage: Usage }
  | { readonly kind: 'failed'; readonly job: JobId; readonly error: PlainError; readonly usage: Usage }
  | { readonly kind: 'usage'; readonly usage: Usage }

/** What a reader has used. */
export interface Usage {
  /** Bytes resident now. */
  readonly memory: number
  /** Seconds of CPU, of all threads, since the process began. */
  readonly cpu: number
}
