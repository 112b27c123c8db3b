export interface Order {
  readonly column: string
  readonly descending: boolean
}

/** The order as `$orderby` has it, so that an address can hold it. */
export function formatOrder(order: Order): string {
  const { column, descending } = order
  const name = /^[A-Za-z_]\w*$/.test(column) ? column : `"${column.replaceAll('"', '""')}"`
  return name + (descending ? ' desc' : '')
}

/** Reads what `formatOrder` writes. */
export function parseOrder(text: string): Order | undefined {
  const match = /^(?:"((?:[^"]|"")+)"|([^\s"]+))(\s+desc)?$/.exec(text.trim())
  if (!match) return undefined
  const column = match[1] === undefined ? match[2]! : match[1].replaceAll('""', '"')
  return { column, descending: match[3] !== undefined }
}

/** What a click on a heading asks for: up, then down, then the order of upload again. */
export function nextOrder(before: Order | undefined, column: string): Order | undefined {
  if (before?.column !== column) return { column, descending: false }
  return before.descending ? undefined : { column, descending: true }
}
