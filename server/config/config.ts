/** What a plan allows; null is "no limit". */
export interface PlanLimits {
  readonly privateRepositories: number | null
  readonly paidProviders: boolean
  /** Rows of datasets downloaded in a calendar month, UTC. */
  readonly exportedRows: number | null
  /** Datasets in the repositories of an account. */
  readonly datasets: number | null
  /** Columns of one dataset. */
  readonly columns: number | null
  /** Bytes on disk of all datasets in the repositories of an account. */
  readonly storedBytes: number | null
}

/** Overrides of a connector: the provider's address, the service's own key for it, and its limits. */
export interface ProviderOverride {
  readonly url?: string
  readonly key?: string
  /** Used instead of the provider's published limits. */
  readonly limits?: {
    readonly windows?: readonly { readonly requests: number; readonly perSeconds: number }[]
    readonly withKey?: readonly { readonly requests: number; readonly perSeconds: number }[]
    readonly concurrency?: number
  }
}

/** The whole configuration of the server, checked and with all defaults. Times are milliseconds. */
export interface Config {
  readonly host: string
  readonly port: number
  /** The data directory, absolute. */
  readonly data: string
  /** `postgres://…` if the catalog is not kept in the data directory; `store` is then set, too. */
  readonly database?: string
  /**
   * `s3://bucket/prefix` if rows are not kept in the data directory; the `s3…` settings say how to reach that store.
   */
  readonly store?: string
  readonly s3Endpoint?: string
  readonly s3Region?: string
  readonly s3PathStyle?: boolean
  /** The most bytes of the local cache beside a store; by default a third of the free disk. */
  readonly cacheBytes?: number
  /**
   * DuckDB's extension httpfs, with which a few rows of parts that are not in the cache are read by ranges: a folder that
   * has the file `httpfs.duckdb_extension`, or `install`; without it they are fetched whole.
   */
  readonly httpfs?: string
  /**
   * A Trino that answers questions too large for one machine, as `http://user:password@host:port/catalog`; without it
   * none is asked.
   */
  readonly trinoUrl?: string
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Whether the sample data is loaded into an empty data directory. */
  readonly samples: boolean
  /** The first account's key; if undefined, one is generated. */
  readonly rootKey?: string | undefined
  /** The secret that encrypts saved provider keys; if undefined, one is generated and kept in the data directory. */
  readonly secret?: string | undefined
  readonly plans: Readonly<Record<string, PlanLimits>>
  readonly timeouts: {
    /** From the arrival of a request for data to its first byte. */
    readonly firstByte: number
    /** Without any progress of a download or an upload. */
    readonly stall: number
    /** A whole download or upload. */
    readonly transfer: number
    /** Waiting in the queue for a place to run. */
    readonly queue: number
    /**
     * How long a server that is stopped still takes requests while `/readyz` says that it isn't ready, so that proxies
     * send requests elsewhere first.
     */
    readonly leaving: number
    /** How long requests under way may still run when the server is stopped. */
    readonly shutdown: number
    /** A request to a provider. */
    readonly provider: number
    /** A connection on which nothing moves. */
    readonly idle: number
  }
  readonly limits: {
    /** Downloads that run at once, in all and of one account. */
    readonly exports: number
    readonly exportsPerAccount: number
    readonly uploads: number
    readonly uploadsPerAccount: number
    /** Downloads, and uploads, that may wait for a place. */
    readonly queue: number
    readonly uploadBytes: number
    readonly unpackedBytes: number
    /** An upload that is slower than this on average, after its first seconds, is aborted; 0 allows any speed. */
    readonly uploadBytesPerSecond: number
    /** The most memory for reading one upload; by default an eighth of the machine's. */
    readonly uploadMemory?: number
    /** JSON bodies that are not uploads. */
    readonly bodyBytes: number
    /** The request line and the headers. */
    readonly headerBytes: number
    /** Series saved with one request. */
    readonly savedSeries: number
    /** Rows of a page of the OData service, unless the client asks for smaller pages. */
    readonly odataPageRows: number
    /** Wrong API keys allowed in a minute, from one address and with the same beginning; 0 sets no limit. */
    readonly failedKeys: number
    /** Requests of one account in a minute; null is "no limit". */
    readonly requestsPerMinute: number | null
    /** Memory for recent answers, which are sent again for the same question; 0 keeps none. */
    readonly cachedAnswerBytes: number
  }
  /** 0 switches a check off. */
  readonly shedding: { readonly eventLoopDelay: number; readonly memoryBytes: number }
  readonly engine: {
    readonly threads?: number
    readonly workers?: number
    readonly memoryLimit?: string
    /** How stored rows are read again in the background; `bytesPerSecond: 0` turns it off. */
    readonly checks?: { readonly bytesPerSecond?: number; readonly everyDays?: number }
  }
  /**
   * Whether the Iceberg catalog tells every account that may read the rows the paths of their files on this machine. To
   * open the files, a program also needs permission from the file system.
   */
  readonly iceberg: { readonly localFiles: boolean }
  readonly trino: {
    /**
     * A question is large from so many compressed bytes on, of the columns and parts that it reads. By default where
     * Trino begins to be quicker than the node if `cores` is given, and 4 GiB if it isn't.
     */
    readonly minBytes?: number
    /** How many cores the workers of Trino have together. */
    readonly cores?: number
    /** The most rows that are taken from Trino. */
    readonly maxRows: number
  }
  /** Web origins whose pages may call the service; none by default. `*` means every origin. */
  readonly cors: { readonly origins: readonly string[] }
  /**
   * Addresses and networks of trusted proxies: only their headers say where a request comes from, for which host and
   * over which protocol (`X-Forwarded-For`, `-Host`, `-Proto`). None by default.
   */
  readonly trustedProxies: readonly string[]
  /** By slug. */
  readonly providers: Readonly<Record<string, ProviderOverride>>
}

/** Arguments of the command line, as text. They take precedence over the environment, and that over the file. */
export interface ConfigArguments {
  readonly host?: string
  readonly port?: string
  readonly data?: string
  readonly database?: string
  readonly store?: string
  readonly samples?: boolean
}
