import type { ErrorObject } from 'ajv'
import { nearest } from '../../engine/index.ts'

/**
 * A sentence about one fault that Ajv found. Ajv must be `verbose`, so that it gives the wrong value.
 * @param whole the name of the document, such as "The body"
 * @param name the name of the place of the fault, if not its path
 */
export function faultSentence(error: ErrorObject, whole: string, name?: string): string {
  const where = name ?? (place(error.instancePath) || whole)
  switch (error.keyword) {
    case 'required': {
      const field = place(`${error.instancePath}/${error.params['missingProperty']}`)
      return `${field} is missing.`
    }
    case 'additionalProperties': {
      const known = Object.keys((error.parentSchema?.['properties'] ?? {}) as object)
      const unknown = JSON.stringify(error.params['additionalProperty'])
      return `${where} has an unknown field ${unknown}; valid fields: ${known.join(', ')}.`
    }
    case 'type':
      // Fastify gives null for a missing body.
      return where === whole && error.data === null
        ? `${where} must be ${typeName(error.schema)}; it is empty or null.`
        : `${where} must be ${typeName(error.schema)}, not ${typeOf(error.data)}.`
    case 'enum':
      return `${where} must be one of ${(error.schema as unknown[]).join(', ')}; it is ${brief(error.data)}.${meantValue(error)}`
    case 'minLength':
    case 'minItems':
      return `${where} must not be empty.`
    case 'maxLength':
      return `${where} has at most ${error.schema} characters.`
    case 'maxItems':
      return `${where} has at most ${error.schema} items.`
    case 'minProperties':
      return `${where} must have at least one field; valid fields: ${Object.keys((error.parentSchema?.['properties'] ?? {}) as object).join(', ')}.`
    case 'maximum':
      return `${where} must be at most ${error.schema}; it is ${brief(error.data)}.`
    case 'minimum':
      return `${where} must be at least ${error.schema}; it is ${brief(error.data)}.`
    case 'format':
    case 'pattern': {
      // Describes the pattern in words if the schema has a description, else Ajv's message shows the pattern itself.
      const meant = error.parentSchema?.['description']
      return meant ? `${where} must be ${meant}.` : `${where} ${error.message}.`
    }
    default:
      return `${where} ${error.message}.`
  }
}

/** What formats are called elsewhere. */
const FORMAT_NAMES: Readonly<Record<string, string>> = {
  ...{
    excel: 'xlsx',
    xls: 'xlsx',
    jsonl: 'ndjson',
    jsonlines: 'ndjson',
    feather: 'arrow',
    ipc: 'arrow',
    pq: 'parquet',
  },
}

/** A question that names the value that was probably meant; empty if there is none. */
function meantValue({ data, schema }: ErrorObject): string {
  const known = (schema as unknown[]).filter((one) => typeof one === 'string')
  const text = String(data)
  const elsewhere = FORMAT_NAMES[text.toLowerCase()] ?? ''
  const meant = known.includes(elsewhere) ? elsewhere : nearest(text.slice(0, 64), known)
  return meant === undefined ? '' : ` Did you mean ${meant}?`
}

/** A JSON pointer in the usual notation: `columns[0].name`. */
export function place(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, index) => (/^\d+$/.test(part) ? `[${part}]` : `${index === 0 ? '' : '.'}${part}`))
    .join('')
}

function typeName(type: unknown): string {
  const names: Record<string, string> = {
    integer: 'a whole number',
    number: 'a number',
    string: 'text',
    boolean: 'true or false',
    object: 'an object',
    array: 'a list',
    null: 'null',
  }
  return [type]
    .flat()
    .map((name) => names[name as string] ?? String(name))
    .join(' or ')
}

function typeOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return 'text'
  return typeof value === 'object' ? 'an object' : brief(value)
}

function brief(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
