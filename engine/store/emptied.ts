import type { Part, Version } from '../catalog/records.ts'

/**
 * Columns that have values in most rows of a version and only nulls in the parts that take the place of its rows, where
 * statistics tell that.
 * @param columns those of `parts`
 */
export function emptiedIn(
  parts: readonly Part[],
  columns: readonly { readonly name: string }[],
  { columns: columnsBefore, parts: before, rows }: Version,
) {
  const valuesOf = (some: readonly Part[], at: number) =>
    some.reduce((sum, { rows, statistics }) => sum + rows - (statistics?.[at]?.nulls ?? Number.NaN), 0)
  const places = new Map(columns.map(({ name }, at) => [name, at]))
  return columnsBefore.flatMap(({ name }, at) => {
    const place = places.get(name)
    const values = valuesOf(before, at)
    return place !== undefined && values > rows / 2 && valuesOf(parts, place) === 0 ? [{ name, values }] : []
  })
}
