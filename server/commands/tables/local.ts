import type { Format, QueryOptions } from '../../../engine/index.ts'
import { uploadOptions } from '../../transfers/upload-options.ts'
import type { Workplace } from '../workplace.ts'
import { localSources } from './local-sources.ts'
import type { Asked, Manner, Source, Tables, WriteOptions } from './tables.ts'

/** The tables of a data directory, which a server may use at the same time. */
export function localTables(place: Workplace): Tables {
  const { engine } = place
  return {
    ...localSources(place),
    repositories: async () => engine.repositories(),
    datasets: async () => engine.datasets(),
    createRepository: async (fields) => engine.createRepository(fields),
    createDataset: async (fields) => engine.createDataset(fields),
    deleteDataset: async (id) => engine.deleteDataset(id),
    async write(id: number, mode: 'append' | 'replace', source: Source, options: WriteOptions) {
      const { from, format, gzip, manner } = source
      const body = 'file' in from ? { file: from.file } : from
      const dataset = await engine.dataset(id)
      return dataset[mode]({ body, format, gzip, ...uploadOptions(manner), ...options })
    },
    async *read(id: number, format: Format, asked: Asked & Manner, signal: AbortSignal) {
      const { bom, delimiter, decimal, null: missing, formulas, overlong, ...question } = asked
      const dataset = await engine.dataset(id)
      using query = await dataset.query(queryOptions(question))
      const { name: sheetName } = await dataset.record()
      const dialect = { bom, delimiter, decimal, null: missing, formulas }
      await using stream = await query.bytes(format, {
        signal,
        dialect,
        sheetName,
        ...(overlong && { overlong }),
      })
      yield* stream
    },
  }
}

function queryOptions({ orderby, ...rest }: Asked): QueryOptions {
  return { ...rest, ...(orderby !== undefined && { orderBy: orderby }) }
}
