export interface Order {
  readonly column: string
  readonly descending: boolean
}

/** Writes the order as an `$orderby` for the address. */
export function formatOrder(order: Order): string {
  const { column, descending } = order
  const name = /^[A-Za-z_]\w*$/.test(column) ? column : `"${column.replaceAll('"', '""')}"`
  return name + (descending ? ' desc' : '')
}

/** Parses what `formatOrder` has written. */
export function parseOrder(text: string): Order | undefined {
  const match = /^(?:"((?:[^"]|"")+)"|([^\s"]+))(\s+desc)?$/.exec(text.trim())
  if (!match) return undefined
  const column = match[1] === undefined ? match[2]! : match[1].replaceAll('""', '"')
  return { column, descending: match[3] !== undefined }
}

/** The order after a click on a heading: ascending, then descending, then the original order. */
export function nextOrder(before: Order | undefined, column: string): Order | undefined {
  if (before?.column !== column) return { column, descending: false }
  return before.descending ? undefined : { column, descending: true }
}
