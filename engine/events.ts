/**
 * Events that the engine reports because no caller would learn of them otherwise: failures of background work, and
 * conditions that an operator must act on. Each kind has a log level and a description of when it happens.
 */
export const EVENTS = {
  catalog_migrated: {
    level: 'warn',
    when: 'the catalog of an older version was brought up to date; that version can no longer open it',
  },
  writes_stopped: {
    level: 'error',
    when: 'a commit failed so that its outcome is unknown, and the next start reads it from the catalog; or another catalog has taken over the store; this process takes no more writes',
  },
  part_damaged: { level: 'error', when: "a part's file is missing or not what was written; it is not read" },
  part_repaired: { level: 'warn', when: 'a damaged part has been repaired: it matches its hash again' },
  check_failed: { level: 'warn', when: 'parts could not be checked in the background' },
  merge_failed: { level: 'warn', when: 'small parts could not be merged; no rows are affected' },
  profile_failed: { level: 'warn', when: 'the profile of a dataset could not be made' },
  tidy_failed: { level: 'warn', when: 'unused versions could not be removed; the process tries again later' },
  file_left: {
    level: 'warn',
    when: 'a file that nothing needs could not be removed; the next start or gc removes it',
  },
  files_set_aside: {
    level: 'warn',
    when: 'files of parts that the catalog never knew were moved to the folder lost, or all were by --new',
  },
  reader_ended: {
    level: 'warn',
    when: 'a process that reads uploads died, or was ended because it took too much; its upload was refused',
  },
  duckdb_replaced: {
    level: 'error',
    when: 'DuckDB had an internal error, after which it refuses every statement, and a new instance took its place; statements without rows yet were run again, the others failed',
  },
  lease_unwritten: {
    level: 'warn',
    when: 'a reader could not be noted in the catalog; this process removes nothing until it is',
  },
  heartbeat_failed: {
    level: 'warn',
    when: 'a node could not record that it is alive; after 45 s it starts no more reads, and the other nodes take over its work',
  },
  trino_failed: {
    level: 'warn',
    when: 'Trino did not answer a question, which DuckDB was asked instead if there was time',
  },
  ranges_unavailable: {
    level: 'warn',
    when: "DuckDB's extension httpfs could not be loaded; parts that are not in the cache are fetched whole",
  },
} as const satisfies Record<string, { readonly level: 'warn' | 'error'; readonly when: string }>

export type EventKind = keyof typeof EVENTS

export interface EngineEvent {
  readonly kind: EventKind
  readonly level: 'warn' | 'error'
  /** A sentence for the log. */
  readonly message: string
  readonly cause?: unknown
  /** The ids of the dataset and the part that the event is about. */
  readonly dataset?: number
  readonly part?: number
}

/** Passes events to the listener, if there is one, and counts them. */
export class Events {
  readonly #listener: ((event: EngineEvent) => void) | undefined
  /** How often each kind has happened. */
  readonly counts = Object.fromEntries(Object.keys(EVENTS).map((kind) => [kind, 0])) as Record<
    EventKind,
    number
  >

  constructor(listener?: (event: EngineEvent) => void) {
    this.#listener = listener
  }

  tell(kind: EventKind, message: string, more: Pick<EngineEvent, 'cause' | 'dataset' | 'part'> = {}): void {
    this.counts[kind] += 1
    try {
      this.#listener?.({ kind, level: EVENTS[kind].level, message, ...more })
    } catch (error) {
      // An error in the listener must not make the work fail that reported the event.
      process.emitWarning(error as Error)
    }
  }

  /** A function that tells of the failure of work that nobody waits for. */
  failure(kind: EventKind, message: string, about: Pick<EngineEvent, 'dataset' | 'part'> = {}) {
    return (cause: unknown): void => this.tell(kind, message, { ...about, cause })
  }
}
