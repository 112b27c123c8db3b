import { EngineError, type ErrorCode, machineError } from '../errors.ts'

/** An error as plain data that can be sent to another thread or process. */
export interface PlainError {
  readonly message: string
  readonly stack: string | undefined
  /** The code of an `EngineError`. Errors without a code come from DuckDB, or from a defect. */
  readonly code: ErrorCode | undefined
  readonly details: Readonly<Record<string, unknown>> | undefined
  readonly cause: PlainError | undefined
}

/** An error for another thread or process; a fault of the machine gets its code here, because its fields would be lost. */
export function plainError(error: unknown): PlainError {
  return plain(machineError(error) ?? error)
}

function plain(error: unknown): PlainError {
  const { message, stack, cause } = error instanceof Error ? error : new Error(String(error))
  const ours = error instanceof EngineError ? error : undefined
  return {
    message,
    details: undefined,
    ...ours?.marked,
    stack,
    code: ours?.code,
    cause: cause === undefined ? undefined : plain(cause),
  }
}

export function revivedError({ message, stack, code, details, cause }: PlainError): Error {
  const options = cause === undefined ? {} : { cause: revivedError(cause) }
  const error = code ? new EngineError(code, message, { ...options, details }) : new Error(message, options)
  // Keep the stack of the place where the error was raised, which is not this one.
  if (stack !== undefined) error.stack = stack
  return error
}
