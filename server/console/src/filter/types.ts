/** A group of column types that have the same operators. */
export type Family = 'text' | 'number' | 'boolean' | 'date' | 'timestamp' | 'time' | 'other'

export function familyOf(type: string): Family {
  if (type.startsWith('decimal')) return 'number'
  switch (type) {
    case 'integer':
    case 'double':
      return 'number'
    case 'string':
      return 'text'
    case 'boolean':
    case 'date':
    case 'time':
      return type
    case 'timestamp':
    case 'timestamptz':
      return 'timestamp'
    default:
      return 'other'
  }
}

/** Whether values of the type have positions on an axis. */
export function isOrdered(type: string): boolean {
  const family = familyOf(type)
  return family === 'number' || family === 'date' || family === 'timestamp'
}

const RESERVED =
  /^(?:and|or|not|eq|ne|gt|ge|lt|le|in|has|add|sub|mul|div|divby|mod|null|true|false|NaN|INF)$/i

/** A column name as written in a filter, quoted if needed. */
export function filterName(name: string): string {
  const plain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !RESERVED.test(name)
  return plain ? name : `"${name.replaceAll('"', '""')}"`
}

/** A literal of the column's type. `value` is text as the server writes it or as a user types it. */
export function filterLiteral(value: string, type: string): string {
  const text = value.trim()
  switch (familyOf(type)) {
    case 'number':
      return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)
        ? numberLiteral(text)
        : stringLiteral(value)
    case 'boolean':
      return /^(?:true|false)$/i.test(text) ? text.toLowerCase() : stringLiteral(value)
    case 'date':
      return /^\d{4}-\d{2}-\d{2}$/.test(text) ? text : stringLiteral(value)
    case 'timestamp': {
      const match = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/.exec(
        text,
      )
      if (!match) return stringLiteral(value)
      if (match[2] === undefined) return match[1]!
      const zone = match[4] ?? (type === 'timestamptz' ? 'Z' : '')
      return `${match[1]}T${match[2]}${match[3] ?? ':00'}${zone}`
    }
    case 'time':
      return /^\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/.test(text) ? text : stringLiteral(value)
    default:
      return type === 'uuid' && /^[0-9a-f-]{36}$/i.test(text) ? text : stringLiteral(value)
  }
}

export function stringLiteral(value: string): string {
  return `'${value.replaceAll("'", "''")}'`
}

/** OData requires digits on both sides of a decimal point, and allows no plus sign. */
function numberLiteral(text: string): string {
  return text
    .replace(/^\+/, '')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.(?=e|$)/i, '')
}
