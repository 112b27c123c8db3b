import { Ajv } from 'ajv'
import type { Command } from 'commander'
import { faultSentence } from '../http/answer-errors.ts'
import { DATASET_PATCH } from '../records/datasets.ts'
import type { Column, DatasetPatch } from '../records/index.ts'
import { object } from '../records/schema.ts'
import { findDataset, type Tables } from './tables/tables.ts'
import { inRows, readText, UsageError } from './usage.ts'
import type { On } from './workplace.ts'

type Words = NonNullable<DatasetPatch['columns']>[number]
type Described = Omit<DatasetPatch, 'columns'> & { readonly columns?: readonly (Words & { type?: string })[] }

const FIELDS = ['title', 'description', 'license', 'source', 'creator', 'keywords', 'citation'] as const
const KNOWN = [...FIELDS, 'columns'] as const
const { columns: COLUMNS } = DATASET_PATCH.properties
/** What is printed can be given back, so it may have the types. */
const TYPED = {
  ...COLUMNS,
  items: { ...COLUMNS.items, properties: { ...COLUMNS.items.properties, type: { type: 'string' } } },
}
const SCHEMA = object(
  [],
  Object.fromEntries(
    KNOWN.map((name) => [name, name === 'columns' ? TYPED : DATASET_PATCH.properties[name]]),
  ),
)

export function addDescribeCommand(program: Command, on: On<Tables>): void {
  program
    .command('describe <dataset> [file]')
    .description(
      `print what is written down about a dataset, as JSON; or change it by a file of such JSON, where null removes ` +
        `a field (${KNOWN.join(', ')}; - is standard input)`,
    )
    .action((name: string, file?: string) =>
      on(async (tables) => {
        const { id } = await findDataset(tables, name)
        if (file !== undefined) {
          const { columns } = await tables.datasets.get(id)
          await tables.datasets.patch(id, fieldsIn(file, columns))
        }
        const record = await tables.datasets.get(id)
        const columns = record.columns.map(({ name, type, title, unit, description }) => ({
          name,
          type,
          title,
          unit,
          description,
        }))
        const shown = Object.fromEntries(FIELDS.map((field) => [field, record[field]]))
        console.log(JSON.stringify({ ...shown, columns }, undefined, 2))
      }),
    )
}

/** The fields in a file. Types are no part of them. */
function fieldsIn(file: string, known: readonly Column[]): DatasetPatch {
  const text = readText(file)
  let fields: unknown
  try {
    fields = JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${(error as SyntaxError).message}.`)
  }
  const check = new Ajv({ verbose: true, strict: false }).compile(SCHEMA)
  if (!check(fields)) throw new UsageError(faultSentence(check.errors![0]!, file))
  const { columns, ...rest } = fields as Described
  if (columns === undefined) return rest
  const words = columns.map(({ type, ...column }) => {
    const before = known.find(({ name }) => name === column.name)
    if (type === undefined || before === undefined || before.type === type) return column
    const name = JSON.stringify(column.name)
    throw new UsageError(
      `${file}: the type of ${name} is ${before.type}, not ${type}; describe changes no types.`,
    )
  })
  return { ...rest, columns: words }
}

const MOST_VERSIONS = 1000

export function addVersionsCommand(program: Command, on: On<Tables>): void {
  program
    .command('versions <dataset>')
    .description(
      'list the kept versions of a dataset, newest first: number, time, operation, author, rows, rows written and taken away, note',
    )
    .action((name: string) =>
      on(async (tables) => {
        const { id } = await findDataset(tables, name)
        for (const version of await tables.datasets.versions(id, { limit: MOST_VERSIONS })) {
          const { number, createdAt, operation, by, rowCount, addedRows, removedRows, note } = version
          const change = addedRows === null ? '' : `+${addedRows} -${removedRows}`
          console.log(
            [number, createdAt, operation ?? '', by ?? '', inRows(rowCount), change, note ?? ''].join('\t'),
          )
        }
      }),
    )
}
