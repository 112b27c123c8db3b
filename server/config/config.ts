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

/** Where a provider is reached and with which key of the service's own, if not as the connector says. */
export interface ProviderOverride {
  readonly url?: string
  readonly key?: string
  /** In place of the provider's published limits. */
  readonly limits?: {
    readonly windows?: readonly { readonly requests: number; readonly perSeconds: number }[]
    readonly withKey?: readonly { readonly requests: number; readonly perSeconds: number }[]
    readonly concurrency?: number
  }
}

/** Everything the server can be told, checked and complete. Times are milliseconds. */
export interface Config {
  readonly host: string
  readonly port: number
  /** The data directory, absolute. */
  readonly data: string
  /** `s3://bucket/prefix` where rows are not kept in the data directory; the `s3…` say how that store is asked. */
  readonly store?: string
  readonly s3Endpoint?: string
  readonly s3Region?: string
  readonly s3PathStyle?: boolean
  /** Of the parts that are kept beside a store; a third of the free disk where it isn't set. */
  readonly cacheBytes?: number
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Whether the sample data is loaded into an empty data directory. */
  readonly samples: boolean
  /** The first account's key; a generated one where undefined. */
  readonly rootKey?: string | undefined
  /** Encrypts saved provider keys; a generated one in the data directory where undefined. */
  readonly secret?: string | undefined
  readonly plans: Readonly<Record<string, PlanLimits>>
  readonly timeouts: {
    /** From the arrival of a request for data to its first byte. */
    readonly firstByte: number
    /** Without any progress of a download or an upload. */
    readonly stall: number
    /** A whole download or upload. */
    readonly transfer: number
    /** In the queue, for a place to run. */
    readonly queue: number
    /** For requests under way, when the server is stopped. */
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
    /** An upload that brings less on average, after its first seconds, is ended; 0 lets each take its time. */
    readonly uploadBytesPerSecond: number
    /** What reading one upload may have in memory; an eighth of the machine's where it isn't set. */
    readonly uploadMemory?: number
    /** JSON bodies that are not uploads. */
    readonly bodyBytes: number
    /** The request line and the headers. */
    readonly headerBytes: number
    /** Series saved with one request. */
    readonly savedSeries: number
    /** Rows of a page of the OData service, where the client asks for no smaller ones. */
    readonly odataPageRows: number
    /** Wrong API keys in a minute, from one address and of one beginning; 0 lets everybody guess. */
    readonly failedKeys: number
    /** Requests of one account in a minute; null is "no limit". */
    readonly requestsPerMinute: number | null
    /** Memory for answers that may be asked for again; 0 keeps none. */
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
   * Whether the Iceberg catalog shows where the files of the rows lie on this machine, to every account that may read
   * them. Who opens them there must be allowed to by the file system.
   */
  readonly iceberg: { readonly localFiles: boolean }
  /** Origins whose pages may call the service; none by default. `*` is every origin. */
  readonly cors: { readonly origins: readonly string[] }
  /**
   * Addresses and networks of proxies that are believed when they say where a request comes from, under which name and
   * over which protocol (`X-Forwarded-For`, `-Host`, `-Proto`); nobody by default.
   */
  readonly trustedProxies: readonly string[]
  /** By slug. */
  readonly providers: Readonly<Record<string, ProviderOverride>>
}

/** Arguments of the command line, as text; they win over the environment, and that wins over the file. */
export interface ConfigArguments {
  readonly host?: string
  readonly port?: string
  readonly data?: string
  readonly store?: string
  readonly samples?: boolean
}
