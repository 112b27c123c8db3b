import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { Cell } from '../judge.ts'
import { cell, serve } from './common.ts'

// Where it is installed; it is no package of ours.
const here = createRequire(`${process.argv[2]}/package.json`)
const { default: perspective } = await import(pathToFileURL(here.resolve('@perspective-dev/client')).href)

const reader =
  (format: string) =>
  async (path: string, type: string): Promise<readonly Cell[]> => {
    const bytes = await readFile(path)
    const table = await perspective.table(
      format === 'arrow' ? new Uint8Array(bytes).buffer : bytes.toString(),
      { format },
    )
    const view = await table.view({ columns: ['value'] })
    const { value: kind } = await table.schema()
    const { value: values }: { value: readonly (string | number | boolean | null)[] } =
      await view.to_columns()
    return values.map((value) => {
      if (value === null) return ['null', null]
      if (kind === 'integer') return ['int', String(value)]
      if (kind !== 'date' && kind !== 'datetime') return cell(value, type)
      const moment = new Date(value as number)
      return kind === 'date' ? ['date', moment.toISOString().slice(0, 10)] : cell(moment, type)
    })
  }

await serve({
  csv: reader('csv'),
  json: reader('json'),
  ndjson: reader('ndjson'),
  arrow: reader('arrow'),
  'arrow-file': reader('arrow'),
})
// Its server keeps the process alive.
process.exit()
