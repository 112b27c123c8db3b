import type { Part, Version } from '../catalog/records.ts'

/** Columns that have values in most rows of a version and only nulls in other parts, where statistics tell that. */
export function emptiedIn(parts: readonly Part[], { columns, parts: before, rows }: Version) {
  const valuesOf = (some: readonly Part[], at: number) =>
    some.reduce((sum, { rows, statistics }) => sum + rows - (statistics?.[at]?.nulls ?? Number.NaN), 0)
  return columns
    .map(({ name }, at) => ({ name, values: valuesOf(before, at), now: valuesOf(parts, at) }))
    .filter(({ values, now }) => now === 0 && values > rows / 2)
}
