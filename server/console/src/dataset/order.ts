import type { OrderBy } from '../api/rows.ts'

/** Reads what `formatOrderBy` writes, so that an address can hold the order. */
export function parseOrder(text: string): OrderBy | undefined {
  const match = /^(?:"((?:[^"]|"")+)"|([^\s"]+))(\s+desc)?$/.exec(text.trim())
  if (!match) return undefined
  const column = match[1] === undefined ? match[2]! : match[1].replaceAll('""', '"')
  return { column, descending: match[3] !== undefined }
}

/** What a click on a heading asks for: up, then down, then the order of upload again. */
export function nextOrder(before: OrderBy | undefined, column: string): OrderBy | undefined {
  if (before?.column !== column) return { column, descending: false }
  return before.descending ? undefined : { column, descending: true }
}
