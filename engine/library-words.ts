import { EngineError } from './errors.ts'
import { ADDING, fromHttp, QUERY, READING, UPLOADING } from './options.ts'

/** What settles as a call does. Where it fails, the message names options as the library has them. */
export async function inLibraryWords<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    throw error instanceof EngineError && error.details?.hints ? error.inWords(libraryWords) : error
  }
}

/** Options of a query string as a program writes them: `{ delimiter: ';' }`, `addColumns: true`. */
function libraryWords(query: string): string {
  const given = Object.fromEntries(new URLSearchParams(query))
  const { columns, mode, ...others } = given
  const reading = fieldsOf(fromHttp(others, READING))
  const { filter, on, ...upload } = fromHttp(others, { ...UPLOADING, ...ADDING, filter: QUERY.filter })
  const call = Object.entries({ filter, on, ...upload }).filter(([name]) => !(name in READING))
  return [
    ...(columns === undefined ? [] : [`${columns}Columns: true`]),
    ...(mode === undefined ? [] : [`dataset.${mode}`]),
    ...fieldsOf(Object.fromEntries(call)),
    ...(reading.length === 0 ? [] : [`{ ${reading.join(', ')} }`]),
  ].join(', ')
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
