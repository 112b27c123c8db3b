import type { Command } from 'commander'
import { counted } from '../../engine/util/counted.ts'
import { INTERVALS } from '../records/sources.ts'
import { findOrMakeNamed } from './source.ts'
import { attachFiles, localTables, type Workplace } from './tables/local.ts'
import { orRemoved } from './tables/tables.ts'
import { inRows, oneOf } from './usage.ts'
import type { On } from './workplace.ts'

/** Files are looked at by a clock; only series have releases. */
const EVERY = INTERVALS.filter((interval) => interval !== 'release')

interface AttachOptions {
  readonly as: string
  readonly follow?: true
  readonly every: string
  readonly note?: string
}

export function addAttachCommand(program: Command, on: On<Workplace>): void {
  program
    .command('attach <path>')
    .description(
      'make Parquet files a dataset without copying them: a folder, a file, or a quoted pattern with *, ? and **, here ' +
        'or as s3://bucket/prefix; PARQUETRY_ATTACHABLE names the folders that may have them',
    )
    .requiredOption('--as <repository/dataset>', 'the dataset, which is created if needed')
    .option('--follow', 'have a server attach them again when files are added, changed or removed')
    .option('--every <interval>', `how often the server looks: ${EVERY.join(', ')}`, 'hour')
    .option('--note <text>', 'why, for the list of versions')
    .action((path: string, options: AttachOptions) => on((workplace) => attach(workplace, path, options)))
}

async function attach(
  workplace: Workplace,
  path: string,
  { as, follow, every: given, note }: AttachOptions,
): Promise<void> {
  const every = oneOf('--every', EVERY, given)
  const tables = localTables(workplace)
  const found = await findOrMakeNamed(tables, as)
  const { id, version, rowCount, columns } = await orRemoved(tables, found, () =>
    attachFiles(workplace, found.id, path, { every: follow && every, note }),
  )
  console.log(
    `dataset ${id}: ${inRows(rowCount ?? 0)}, ${counted(columns.length, 'column')}, version ${version}; the files stay where they are`,
  )
}
