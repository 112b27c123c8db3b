import { EngineError, type ErrorCode } from '../../errors.ts'

/** An error as it goes from one thread or process to another. */
export interface PlainError {
  readonly message: string
  readonly stack: string | undefined
  /** Of an `EngineError`; what has none is a defect, or DuckDB's. */
  readonly code: ErrorCode | undefined
  readonly details: Readonly<Record<string, unknown>> | undefined
  readonly cause: PlainError | undefined
}

export function plainError(error: unknown): PlainError {
  const { message, stack, cause } = error instanceof Error ? error : new Error(String(error))
  const ours = error instanceof EngineError ? error : undefined
  return {
    message,
    stack,
    code: ours?.code,
    details: ours?.details,
    cause: cause === undefined ? undefined : plainError(cause),
  }
}

export function revivedError({ message, stack, code, details, cause }: PlainError): Error {
  const options = cause === undefined ? {} : { cause: revivedError(cause) }
  const error = code ? new EngineError(code, message, { ...options, details }) : new Error(message, options)
  // It tells where the error was raised, which is not here.
  if (stack !== undefined) error.stack = stack
  return error
}
