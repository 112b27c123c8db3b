import type { PlainError } from '../../util/plain-error.ts'

/** A message from the server's process to a child that does jobs. */
export type ToReader =
  | { readonly kind: 'start'; readonly id: number; readonly name: string; readonly input: unknown }
  | { readonly kind: 'abort'; readonly id: number }

/** A message from a child to the server's process. The first one says that it is ready for jobs. */
export type FromReader =
  | { readonly kind: 'usage'; readonly usage: Usage }
  | { readonly kind: 'progress'; readonly id: number; readonly done: { bytes: number; rows?: number } }
  | { readonly kind: 'settled'; readonly id: number; readonly outcome: Outcome; readonly usage: Usage }

/** How a job ended. */
export type Outcome = { readonly result: unknown } | { readonly error: PlainError }

/** The memory and CPU time that a child uses. */
export interface Usage {
  /** The bytes of resident memory at present. */
  readonly memory: number
  /** Seconds of CPU time of all threads since the process began. */
  readonly cpu: number
}
