import { type ErrorFields, hintsIn, inWords, type Said, saidInWords, type Words } from './error-text.ts'
import { libraryWords } from './library-words.ts'

export {
  type ErrorFields,
  errorFields,
  hint,
  hintsIn,
  httpWords,
  inWords,
  type Said,
  type Words,
  withHints,
} from './error-text.ts'

/**
 * Every error that the engine raises on purpose: its stable code, and when it happens. The sentence that a user reads
 * is written where the error is thrown, because only that place knows the details.
 */
export const ERRORS = {
  invalid_filter: '`$filter` is not an OData expression; the message gives the position',
  filter_too_complex: '`$filter` is longer or deeper than the limits',
  filter_type_error: 'an operator or a function of `$filter` got a type that it does not take',
  filter_failed: '`$filter` or another expression failed on a value of the data: overflow, division by zero',
  invalid_columns: 'a query names columns that the dataset does not have',
  invalid_option: 'a query option is unknown, malformed or conflicts with another',
  invalid_sql:
    'SQL is not one SELECT, or DuckDB refuses it or fails on a value; the message gives the position',
  sql_not_allowed: 'SQL calls a function, or has an expression, that is not allowed',
  unknown_table: 'SQL names a table that does not exist, or that may not be read',
  saved_query:
    'a saved query is written to, has no stored version or file, nests too deeply, or reads a table that is gone',
  not_representable: 'a value can not be written in the format that was asked for',
  invalid_upload: 'an upload is malformed; the message names row and column where it can',
  invalid_columns_manifest: 'declared columns are malformed',
  invalid_file:
    'a file to be queried or attached where it lies is not there, is no Parquet file, or has columns that can not be read as they are',
  attached_files:
    'a dataset of files that stay where they are is written to, or asked for in a way that only stored files have',
  file_changed:
    'a file that is attached is missing, or is no longer as it was when it was attached; the message names it',
  invalid_name: 'a name is empty, too long or not text',
  not_found: 'no such repository or dataset, or no such version of a dataset',
  version_gone: 'a version of a dataset is no longer kept; the message says which are',
  name_taken: 'the name already exists in the same place',
  duplicate_key: 'two rows would have the same key, or a row has none; the message names them',
  rows_changed: 'rows whose change is undone were changed again by later versions; the message names them',
  missing_columns: 'an upload lacks columns of the dataset or of its key; the message names them',
  column_conflict: 'columns of an upload or a manifest conflict with those of the dataset',
  upload_too_large: 'an upload is larger than the limit, packed or unpacked',
  unsupported_format: 'an upload is in a format that is not known',
  locked: 'another process holds what the operation needs for itself alone',
  storage_full: 'the disk is full; nothing was changed, unless the message says otherwise',
  storage_read_only:
    'files of the data directory can not be written: it is read-only, or belongs to another user; nothing was changed',
  storage_failed: 'the disk failed: a file could not be read or written; nothing was changed',
  too_many_open_files: 'as many files are open as the system allows; nothing was changed',
  storage_damaged: 'stored rows, or the catalog of what is stored, are not what was written',
  storage_unavailable:
    'the store of the rows can not be reached, is too slow or refuses us; nothing was changed',
  outcome_unknown:
    'the disk failed, or the database was lost, while a change was written; whether it was made shows later',
  writes_stopped:
    'an earlier outcome is unknown, so nothing is written until the next start, or another catalog has taken over the store; reads go on',
  catalog_unavailable: 'the database that holds the catalog does not answer; nothing was changed',
  overloaded: 'more work than the configured limits allow; try again later',
  timeout: 'the query took longer than the deadline',
  cancelled: 'the caller went away or aborted the signal',
  internal: 'a defect; the cause is kept for the log',
} as const satisfies Record<string, string>

export type ErrorCode = keyof typeof ERRORS

/** Warnings in these words, and the options that they name. */
export function warningsIn(marked: readonly string[], words: Words = libraryWords) {
  const hints = marked.flatMap(hintsIn)
  return { warnings: marked.map((one) => inWords(one, words)), ...(hints.length > 0 && { hints }) }
}

/**
 * An error with a stable code. `message` is a sentence for the user, which names options as the library has them; `cause`
 * is for the log alone.
 */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly code: ErrorCode
  readonly details: Readonly<ErrorFields & Record<string, unknown>> | undefined
  readonly #marked: Said

  /** @param message may have options that `hint` has marked, as may `problem` and the `error` of each of the `errors` */
  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; details?: Readonly<ErrorFields & Record<string, unknown>> | undefined } = {},
  ) {
    const { cause, details } = options
    const said = saidInWords({ message, details }, libraryWords)
    super(said.message, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = said.details
    this.#marked = { message, details }
  }

  /** What it says with its options marked, for errors that are made of it. */
  get marked(): Said {
    return this.#marked
  }

  /** What it says with options in other words. */
  inWords(words: Words): Said {
    return saidInWords(this.#marked, words)
  }
}

/** The error for an option that is wrong. @param option its name, as HTTP has it */
export function invalidOption(message: string, option?: string): EngineError {
  return new EngineError('invalid_option', message, {
    details: option === undefined ? undefined : { option },
  })
}

/** What the machine can refuse: the codes of the system, what DuckDB writes for them, and what a user reads. */
const FAULTS = {
  storage_full: {
    codes: ['ENOSPC', 'EDQUOT', 'EFBIG'],
    // DuckDB also reports a lack of memory when it has no room on the disk for data that it wants to move there.
    says: /No space left on device|Disk quota exceeded|File too large|max_temp_directory_size|failed to offload/,
    sentence: 'The disk is full. Nothing was changed.',
  },
  storage_read_only: {
    codes: ['EROFS', 'EACCES', 'EPERM'],
    says: /Read-only file system|Permission denied|Operation not permitted/,
    sentence:
      'The data directory can not be written to: it is read-only, or belongs to another user. Nothing was changed.',
  },
  too_many_open_files: {
    codes: ['EMFILE', 'ENFILE'],
    says: /Too many open files/,
    sentence: 'As many files are open as the system allows. Nothing was changed; try again in a few seconds.',
  },
  overloaded: {
    codes: ['ENOMEM', 'EAGAIN'],
    says: /^Out of Memory Error|Cannot allocate memory/,
    sentence: 'This needs more memory than there is now. Nothing was changed; try again later.',
  },
  storage_failed: {
    codes: ['EIO', 'ENXIO', 'ENODEV', 'ESTALE', 'EREMOTEIO', 'ENOENT', 'ENOTDIR'],
    // Files of this name are DuckDB's own.
    says: /Input\/output error|Stale file handle|^IO Error: [^\n]*duckdb_temp/,
    sentence: 'The disk failed: a file could not be read or written. Nothing was changed; try again later.',
  },
} as const satisfies Partial<Record<ErrorCode, { codes: readonly string[]; says: RegExp; sentence: string }>>

export type MachineCode = keyof typeof FAULTS

/** What a user reads about a fault, unless more is known of what was done. */
export function sentenceOf(code: MachineCode): string {
  return FAULTS[code].sentence
}

/**
 * The one place that tells faults of the machine from all others: the error for the user, with the fault as its cause;
 * undefined for what is none. It knows errors of the file system, of DuckDB and of a disposal that failed as well; what
 * comes from a worker or a reader process has passed here before it was sent.
 */
export function machineError(error: unknown): EngineError | undefined {
  // By its name, because Node 22 has no such class.
  if (error instanceof Error && error.name === 'SuppressedError') {
    const { error: last } = error as SuppressedError
    return last instanceof EngineError ? last : machineError(last)
  }
  if (!(error instanceof Error) || error instanceof EngineError) return undefined
  const { code = '' } = error as { code?: string }
  const faults = Object.entries(FAULTS) as [MachineCode, (typeof FAULTS)[MachineCode]][]
  // Node gives some errors of removed folders no code.
  const found = faults.find(
    ([, { codes, says }]) => (codes as readonly string[]).includes(code) || says.test(error.message),
  )
  return found && new EngineError(found[0], sentenceOf(found[0]), { cause: error })
}

/** Turns faults of the machine into errors with a code, and returns all others as they are. */
export function storageError(error: unknown): unknown {
  return machineError(error) ?? error
}

/** Node's and OpenSSL's codes for a certificate that is not accepted, or a connection that can't be encrypted. */
const TLS_CODES = /^(ERR_TLS_|ERR_SSL_|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_MISMATCH)/

/** Whether an error says that TLS failed, and not what it was for. */
export function isTlsFailure(error: unknown): error is Error {
  return TLS_CODES.test((error as NodeJS.ErrnoException).code ?? '')
}
