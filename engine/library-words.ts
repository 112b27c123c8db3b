import {
  ADDING,
  CHANGE,
  DIALECT,
  fromHttp,
  type OptionTable,
  OTHER_FORMATS,
  QUERY,
  READING,
  UPLOADING,
  VERSION,
} from './options.ts'

const isOfCall = ([name]: [string, unknown]) => !(name in READING || name === 'columns' || name === 'mode')

/** Where calls have options: next to the others, or in an object within them. */
const PLACES: readonly (readonly [table: OptionTable, fields: (fields: string) => string, name: string])[] = [
  [{ ...QUERY, ...VERSION, ...OTHER_FORMATS, ...CHANGE }, (fields) => fields, ''],
  [Object.fromEntries(Object.entries({ ...UPLOADING, ...ADDING }).filter(isOfCall)), (fields) => fields, ''],
  [DIALECT, (fields) => `dialect: { ${fields} }`, 'dialect.'],
  [READING, (fields) => `{ ${fields} }`, ''],
]

/** Options of a query string as a program writes them: `{ delimiter: ';' }`, `addColumns: true`; without `=`, their name. */
export function libraryWords(query: string): string {
  if (!query.includes('=')) return nameOf(query)
  const { columns, mode, ...others } = Object.fromEntries(new URLSearchParams(query))
  return [
    ...(columns === undefined ? [] : [`${columns}Columns: true`]),
    ...(mode === undefined ? [] : [`dataset.${mode}`]),
    ...PLACES.flatMap(([table, place]) => {
      const fields = fieldsOf(fromHttp(others, table))
      return fields.length === 0 ? [] : place(fields.join(', '))
    }),
  ].join(', ')
}

function nameOf(http: string): string {
  const names = PLACES.flatMap(([table, _, place]) =>
    Object.entries(table).flatMap(([name, option]) => (option.http === http ? place + name : [])),
  )
  return names[0] ?? http
}

/** Fields as they are written in an object. One without a value is for the reader to fill in. */
function fieldsOf(values: object): string[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${isEmpty(value) ? '…' : literal(value)}`],
  )
}

const isEmpty = (value: unknown) => String(value) === ''

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  return typeof value === 'string'
    ? `'${JSON.stringify(value).slice(1, -1).replaceAll("'", "\\'")}'`
    : `${value}`
}
