import { EngineError, type ErrorCode } from './errors.ts'

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
  if (error instanceof SuppressedError) {
    const { error: last } = error
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
