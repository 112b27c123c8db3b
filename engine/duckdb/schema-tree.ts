/** An element of a Parquet schema, as DuckDB's `parquet_schema` lists it; a leaf has no children. */
export interface SchemaElement {
  readonly name: unknown
  readonly children: unknown
}

/**
 * Names of the columns below a schema's root, and the index at which the next schema begins. A schema is a tree, listed
 * depth first; its root is the row.
 */
export function topLevel(
  schema: readonly SchemaElement[],
  root = 0,
): { readonly names: string[]; readonly end: number } {
  const names: string[] = []
  let at = root + 1
  for (let column = 0; column < Number(schema[root]?.children ?? 0) && at < schema.length; column++) {
    names.push(String(schema[at]!.name))
    // Skips the column and everything nested in it.
    for (let left = 1; left > 0 && at < schema.length; left--) left += Number(schema[at++]!.children ?? 0)
  }
  return { names, end: at }
}
