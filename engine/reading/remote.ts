import type { Part, Version } from '../catalog/records.ts'
import type { Delegate } from '../duckdb/cursor.ts'
import type { Plan, PlanSource, QueryOptions } from '../plan/plan.ts'

/** Another database that reads the same rows, and answers queries that are too large for this machine. */
export interface RemoteEngine {
  /** @param name the name of the version's table in its SQL; an error if it is gone */
  table(version: Version, fileOf: (part: Part) => string, name: () => Promise<string>): RemoteTable
}

/** The rows of a version. */
export interface RemoteTable {
  /**
   * @param plan the plan that was made for DuckDB from the same options
   * @param now what now() returned in it
   */
  query(plan: Plan, source: PlanSource, options: QueryOptions, now: Date): RemoteQuery
}

/** Whether the other database is asked, and why; undefined where DuckDB answers. */
export interface RemoteQuery {
  rows(window: Plan['window']): Promise<Delegate | undefined>
  count(): Promise<Delegate | undefined>
  /** Who reads the rows, and why. */
  explain(): string
}
