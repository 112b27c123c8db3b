import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { cell, serve } from './common.ts'

// Where it is installed; it is no package of ours.
const here = createRequire(`${process.argv[2]}/package.json`)
const load = (name: string) => import(pathToFileURL(here.resolve(name)).href)
const { asyncBufferFromFile, parquetReadObjects } = await load('hyparquet')
const { compressors } = await load('hyparquet-compressors')

await serve({
  parquet: async (path, type) => {
    const file = await asyncBufferFromFile(path)
    const rows: { value: unknown }[] = await parquetReadObjects({ file, compressors, columns: ['value'] })
    return rows.map(({ value }) => cell(value, type))
  },
})
