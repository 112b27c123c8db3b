import { type TypeName, typeName } from '../../engine/types/index.ts'
import { type Described, described, isUrl, rowsUrl, setFields } from './described.ts'

const TYPES = {
  boolean: { type: 'boolean' },
  integer: { type: 'integer' },
  double: { type: 'number' },
  decimal: { type: 'number' },
  string: { type: 'string' },
  date: { type: 'date' },
  time: { type: 'time', format: 'any' },
  timestamp: { type: 'datetime', format: 'any' },
  timestamptz: { type: 'datetime', format: 'any' },
  uuid: { type: 'string', format: 'uuid' },
  binary: { type: 'string', format: 'binary' },
  json: { type: 'any' },
} as const satisfies Record<TypeName, object>

/** A dataset as a Data Package (https://specs.frictionlessdata.io/data-package/). */
export function dataPackage(dataset: Described): object {
  const { record, url } = dataset
  const { title, description, license, source, creator, keywords } = record
  const name = slug(record.name) || `dataset-${record.id}`
  return {
    profile: 'data-package',
    name,
    ...setFields({
      title: title ?? record.name,
      description,
      licenses: license && [
        isUrl(license) ? { path: license } : { name: license.replace(/[^-a-zA-Z0-9._]/g, '-') },
      ],
      sources: source && [isUrl(source) ? { title: source, path: source } : { title: source }],
      contributors: creator && [{ title: creator, role: 'author' }],
      keywords,
    }),
    homepage: url,
    version: String(record.version),
    created: record.createdAt,
    resources: [
      {
        name,
        path: rowsUrl(dataset, 'csv'),
        profile: 'tabular-data-resource',
        format: 'csv',
        mediatype: 'text/csv',
        encoding: 'utf-8',
        schema: {
          fields: record.columns.map((column) => ({
            name: column.name,
            ...TYPES[typeName(column.type)],
            ...setFields({ title: column.title, description: described(column) }),
            ...(!column.nullable && { constraints: { required: true } }),
          })),
          missingValues: [''],
        },
      },
    ],
  }
}

/** Names of packages have only these characters. */
function slug(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, '-')
    .replace(/^-+|-+$/g, '')
}
