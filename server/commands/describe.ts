import { Ajv } from 'ajv'
import type { Command } from 'commander'
import { faultSentence } from '../http/answer-errors.ts'
import { DATASET_PATCH } from '../records/datasets.ts'
import type { DatasetPatch } from '../records/index.ts'
import { object } from '../records/schema.ts'
import { findDataset, type Tables } from './tables/tables.ts'
import { inRows, readText, UsageError } from './usage.ts'
import type { On } from './workplace.ts'

const FIELDS = ['title', 'description', 'license', 'source', 'creator', 'keywords', 'citation'] as const
const KNOWN = [...FIELDS, 'columns'] as const
const SCHEMA = object([], Object.fromEntries(KNOWN.map((name) => [name, DATASET_PATCH.properties[name]])))

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
        if (file !== undefined) await tables.datasets.patch(id, fieldsIn(file))
        const record = await tables.datasets.get(id)
        const columns = record.columns.map(({ name, title, unit, description }) => ({
          name,
          title,
          unit,
          description,
        }))
        const shown = Object.fromEntries(FIELDS.map((field) => [field, record[field]]))
        console.log(JSON.stringify({ ...shown, columns }, undefined, 2))
      }),
    )
}

function fieldsIn(file: string): DatasetPatch {
  const text = readText(file)
  let fields: unknown
  try {
    fields = JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${(error as SyntaxError).message}.`)
  }
  const check = new Ajv({ verbose: true, strict: false }).compile(SCHEMA)
  if (check(fields)) return fields as DatasetPatch
  throw new UsageError(faultSentence(check.errors![0]!, file))
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
