import type { Command } from 'commander'
import { inRows } from '../usage.ts'
import type { On } from '../workplace.ts'
import { findDataset } from './find-by-name.ts'
import type { Tables } from './tables.ts'

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
        for (const version of await tables.versions(id)) {
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
  const restored = await tables.restore(id, version, note)
  console.log(`dataset ${id}: version ${restored.version} has the rows of version ${version}`)
}
