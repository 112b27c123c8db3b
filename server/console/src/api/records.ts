/** The records of the service, as the OpenAPI document describes them. */

export interface Repository {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly private: boolean
  readonly owner: string
  readonly permission: 'Read' | 'Write'
  readonly createdAt: string
  readonly updatedAt: string
}

export interface Column {
  readonly name: string
  readonly type: string
  readonly nullable: boolean
  readonly description: string
}

export interface Dataset {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly repositoryId: number
  readonly version: number
  readonly rowCount: number
  readonly bytes: number
  readonly columns: readonly Column[]
  readonly createdAt: string
  readonly updatedAt: string
}

export interface Account {
  readonly id: number
  readonly name: string
  readonly plan: string
  readonly apiKeyHint: string
  readonly usage: {
    readonly privateRepositories: number
    readonly exportedRows: number
    readonly month: string
  }
  /** null, or absent, stands for no limit. */
  readonly limits: {
    readonly privateRepositories?: number | null
    readonly exportedRows?: number | null
    readonly paidProviders?: boolean
  }
}

export interface Provider {
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly homepage: string
  readonly tier: 'free' | 'paid'
  readonly keyRequired: boolean
  readonly userKey: boolean
  /** Numbers are null where the provider publishes no limit, `resetsAt` also while nothing of it is used. */
  readonly limit: {
    readonly requests: number | null
    readonly perSeconds: number | null
    readonly remaining: number | null
    readonly resetsAt: string | null
  }
}

export interface UserKey {
  readonly provider: string
  readonly keyHint: string
  readonly updatedAt: string
}

export interface Category {
  readonly path: string
  readonly name: string
  readonly description: string
  readonly series: boolean
}

export interface SeriesInfo {
  readonly series_id: string
  readonly name: string
  readonly frequency: string | null
  readonly unit: string | null
  readonly start: string | null
  readonly end: string | null
}

export interface SeriesPage {
  /** null where the provider does not say. */
  readonly total: number | null
  readonly limit: number
  readonly offset: number
  readonly series: readonly SeriesInfo[]
}

export interface Series {
  readonly provider: string
  readonly series_id: string
  readonly name: string
  readonly frequency: string | null
  readonly unit: string | null
  readonly lastUpdated: string | null
  readonly observations: readonly {
    readonly date: string
    readonly period?: string
    readonly value: number | string | null
  }[]
}
