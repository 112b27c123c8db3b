import { EngineError } from '../errors.ts'

/**
 * Why Trino gave no answer: a value in the data (`values`), too much work (`busy`), a limit of time (`late`), more rows
 * than are taken from it (`many`), or anything else.
 */
export type FailureKind = 'values' | 'busy' | 'late' | 'many' | 'broken'

/** Trino gave no answer. The message is for the log. */
export class TrinoFailure extends Error {
  override readonly name = 'TrinoFailure'
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** What Trino says of a query that failed. */
export interface TrinoError {
  readonly errorName?: string
  readonly errorType?: string
  readonly message?: string
}

const VALUES: ReadonlySet<string> = new Set([
  'DIVISION_BY_ZERO',
  'NUMERIC_VALUE_OUT_OF_RANGE',
  'INVALID_CAST_ARGUMENT',
  'INVALID_FUNCTION_ARGUMENT',
  // Our own SQL raised it.
  'GENERIC_USER_ERROR',
])
const LATE: ReadonlySet<string> = new Set(['EXCEEDED_TIME_LIMIT', 'EXCEEDED_CPU_LIMIT', 'ABANDONED_QUERY'])

export function failureOf({ errorName = '', errorType = '', message = '' }: TrinoError): TrinoFailure {
  const kind = VALUES.has(errorName)
    ? 'values'
    : LATE.has(errorName)
      ? 'late'
      : errorType === 'INSUFFICIENT_RESOURCES'
        ? 'busy'
        : 'broken'
  return new TrinoFailure(kind, `${errorName}: ${message}`)
}

const SENTENCES: Readonly<
  Record<FailureKind, readonly ['filter_failed' | 'overloaded' | 'timeout', string]>
> = {
  values: ['filter_failed', 'fails on a row: it divides by zero, or a result is too large for its type.'],
  late: ['timeout', 'The query takes longer than it may.'],
  busy: ['overloaded', 'The cluster that answers large questions has too much work now. Try again later.'],
  many: [
    'overloaded',
    'The answer has too many rows for the time that is left. Try again, or ask for fewer.',
  ],
  broken: ['overloaded', 'The cluster that answers large questions failed. Try again later.'],
}

/**
 * A failure for users, where nobody else can answer.
 * @param fallible what may have failed on a value of the data, as the beginning of a sentence
 */
export function shownFailure(failure: unknown, fallible = 'The query'): EngineError {
  const kind = failure instanceof TrinoFailure ? failure.kind : 'broken'
  const [code, sentence] = SENTENCES[kind]
  return new EngineError(code, kind === 'values' ? `${fallible} ${sentence}` : sentence, { cause: failure })
}
