/*
 * Measured with `bench/trino.ts`: 60,000,000 rows, Trino 476 with workers of one core each, DuckDB with one thread.
 * Over 1, 4, 16 and 60 million rows, a second worker divides Trino's time by 0.9, 1.1, 1.2 and 1.8 (geometric
 * means of counts, a filter and groups): only what comes after the start is shared by the cores.
 */

/** What a question costs Trino before it reads anything, in seconds. */
const START = 0.5
/** Seconds that one core of DuckDB takes for a gigabyte of compressed columns. */
const PER_GIGABYTE = 5
/** Cores that Trino needs to be as quick as one of DuckDB's. */
const CORES_FOR_ONE = 4

/**
 * From how many compressed bytes on a Trino is quicker than DuckDB; Infinity if it never is.
 * @param cores of Trino's workers together
 * @param threads of DuckDB on this machine
 */
export function payingBytes(cores: number, threads: number): number {
  const saved = PER_GIGABYTE / threads - (PER_GIGABYTE * CORES_FOR_ONE) / cores
  return saved > 0 ? Math.round((START / saved) * 1e9) : Number.POSITIVE_INFINITY
}
