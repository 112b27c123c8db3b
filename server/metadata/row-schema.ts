import { type TypeName, typeName } from '../../engine/types/index.ts'
import { type Described, described, setFields } from './described.ts'

const TYPES = {
  boolean: { type: 'boolean' },
  integer: { type: 'integer' },
  double: { type: 'number' },
  decimal: { type: 'number' },
  string: { type: 'string' },
  date: { type: 'string', format: 'date' },
  time: { type: 'string' },
  timestamp: { type: 'string' },
  timestamptz: { type: 'string', format: 'date-time' },
  uuid: { type: 'string', format: 'uuid' },
  binary: { type: 'string', contentEncoding: 'base64' },
  json: {},
} as const satisfies Record<TypeName, object>

/** The JSON Schema of one row, as json and ndjson have it. */
export function rowSchema({ record, url }: Described): object {
  const properties = record.columns.map((column) => [column.name, propertyOf(column)] as const)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${url}/schema.json`,
    ...setFields({ title: record.title ?? record.name, description: record.description }),
    type: 'object',
    properties: Object.fromEntries(properties),
    required: record.columns.map(({ name }) => name),
    additionalProperties: false,
  }
}

function propertyOf(column: Described['record']['columns'][number]): object {
  const words = setFields({ title: column.title, description: described(column) })
  const plain: { readonly type?: string } = TYPES[typeName(column.type)]
  // Infinities and NaN, which JSON lacks, are written as null.
  const mayBeNull = column.nullable || column.type === 'double'
  return { ...words, ...plain, ...(plain.type && mayBeNull && { type: [plain.type, 'null'] }) }
}
