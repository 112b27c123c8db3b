import type { Command } from 'commander'
import type { DatasetPatch } from '../records/index.ts'
import { findDataset, type Tables } from './tables/tables.ts'
import { inRows, readText, UsageError } from './usage.ts'
import type { On } from './workplace.ts'

/** The fields that describe a dataset. */
const FIELDS = ['title', 'description', 'license', 'source', 'creator', 'keywords', 'citation'] as const
const KNOWN: readonly string[] = [...FIELDS, 'columns']
const OF_COLUMNS: readonly string[] = ['name', 'title', 'unit', 'description']

/** `parquetry describe DATASET [FILE]`. */
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
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw new UsageError(`${file} must be an object, such as {"title": "Flights", "license": "CC-BY-4.0"}.`)
  }
  const unknown = Object.keys(fields).find((name) => !KNOWN.includes(name))
  if (unknown !== undefined)
    throw new UsageError(`${file} has an unknown field ${unknown}; known are ${KNOWN.join(', ')}.`)
  const { columns = [] } = fields as DatasetPatch
  if (!Array.isArray(columns) || !columns.every(isDescribed)) {
    throw new UsageError(
      `columns in ${file} must be a list of objects with ${OF_COLUMNS.join(', ')}, such as [{"name": "delay", "unit": "min"}].`,
    )
  }
  return fields
}

function isDescribed(column: unknown): boolean {
  if (typeof column !== 'object' || column === null || !('name' in column)) return false
  return Object.keys(column).every((key) => OF_COLUMNS.includes(key))
}

/** The most versions that are listed. */
const MOST_VERSIONS = 1000

/** `parquetry versions DATASET`. */
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

/** Makes an earlier version of a dataset current again. */
export async function restoreVersion(
  tables: Tables,
  name: string,
  version: number,
  note: string | undefined,
): Promise<void> {
  const { id } = await findDataset(tables, name)
  const restored = await tables.datasets.restore(id, version, { note })
  console.log(`dataset ${id}: version ${restored.version} has the rows of version ${version}`)
}
