/** An object of DuckDB's tree. */
export interface TreeNode {
  [key: string]: unknown
}

/** How many characters are before a node; undefined if it has no place. */
export function placeOf(node: TreeNode): number | undefined {
  const place = node['query_location']
  return typeof place === 'number' && place >= 0 ? place : undefined
}
