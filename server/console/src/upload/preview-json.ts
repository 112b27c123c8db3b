import type { Field } from '../csv.ts'
import { PreviewError } from './model.ts'

interface Objects {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Field[])[]
  /** Columns that contain arrays or objects, and become JSON columns. */
  readonly nested: ReadonlySet<string>
}

/**
 * Parses rows from the beginning of a JSON text: lines of objects, an array of objects, or `{"columns", "rows"}`. An
 * incomplete value at the end is ignored.
 *
 * @throws PreviewError if a row is neither an object nor an array
 */
export function previewObjects(text: string, whole: boolean, format: 'json' | 'ndjson'): Objects {
  const declared = format === 'json' ? declaredColumns(text) : undefined
  const values = topLevelValues(format === 'json' ? insideRows(text) : text, whole)
  const names = new Map<string, number>((declared ?? []).map((name, at) => [name, at]))
  const nested = new Set<string>()
  const records = values.map((value, at) => recordOf(value, at + 1, names, nested, declared))
  const columns = [...names.keys()]
  return { columns, rows: records.map((record) => columns.map((name) => record.get(name) ?? null)), nested }
}

function recordOf(
  literal: string,
  row: number,
  names: Map<string, number>,
  nested: Set<string>,
  declared: readonly string[] | undefined,
): Map<string, Field> {
  let value: unknown
  try {
    value = JSON.parse(literal)
  } catch {
    throw new PreviewError(`Row ${row} is not JSON.`)
  }
  if (typeof value !== 'object' || value === null)
    throw new PreviewError(`Row ${row} is neither an object nor a list.`)
  const entries: [string, unknown][] = Array.isArray(value)
    ? value.map((item, at) => [declared?.[at] ?? `column ${at + 1}`, item])
    : Object.entries(value)
  for (const [name, item] of entries) {
    if (!names.has(name)) names.set(name, names.size)
    if (typeof item === 'object' && item !== null) nested.add(name)
  }
  return new Map(entries.map(([name, item]) => [name, textOf(item)]))
}

function textOf(value: unknown): Field {
  if (value === null || value === undefined) return null
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The text after the `[` that begins the rows. */
function insideRows(text: string): string {
  const open = /^\s*\[/.exec(text) ?? /"rows"\s*:\s*\[/.exec(text)
  if (!open) throw new PreviewError('Expected an array of objects, or {"rows": […]}.')
  return text.slice(open.index + open[0].length)
}

function declaredColumns(text: string): string[] | undefined {
  const match = /^\s*\{\s*"columns"\s*:\s*(\[[^\]]*\])/.exec(text)
  if (!match) return undefined
  try {
    const columns = JSON.parse(match[1]!) as { name?: unknown }[]
    return columns.map((column) => String(column.name ?? column))
  } catch {
    return undefined
  }
}

/** The complete objects and arrays at the top level of a text. */
function topLevelValues(text: string, whole: boolean): string[] {
  const values: string[] = []
  let depth = 0
  let start = -1
  let quoted = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!
    if (quoted) {
      if (character === '\\') at += 1
      else if (character === '"') quoted = false
    } else if (character === '"') quoted = true
    else if (character === '{' || character === '[') {
      if (depth === 0) start = at
      depth += 1
    } else if (character === '}' || character === ']') {
      depth -= 1
      if (depth < 0) return values
      if (depth === 0) values.push(text.slice(start, at + 1))
    }
  }
  if (whole && depth > 0) throw new PreviewError('The text ends in the middle of a row.')
  return values
}
