import type { RecordBatch } from 'apache-arrow'
import type { PlanColumn } from './plan/plan.ts'

/**
 * Rows of a batch as plain objects: integers as number where that is exact, else bigint; decimals as exact text;
 * dates, times and timestamps as ISO text; binary as Uint8Array; json as text.
 */
export function* plainRows(
  batch: RecordBatch,
  columns: readonly PlanColumn[],
): Generator<Record<string, unknown>> {
  void batch
  void columns
}
