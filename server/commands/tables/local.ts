import type { Format } from '../../../engine/index.ts'
import { pick, QUERY, VERSION } from '../../../engine/options.ts'
import { withWords } from '../../../engine/types/columns.ts'
import { Access } from '../../accounts/access.ts'
import { ServerError } from '../../http/errors.ts'
import { encodingOf } from '../../transfers/encoding.ts'
import { optionTexts, uploadOptions } from '../../transfers/uploads/upload-options.ts'
import type { Workplace } from '../workplace.ts'
import { localSources } from './local-sources.ts'
import {
  type ExportOptions,
  type ImportedFile,
  MOST_VERSIONS,
  type Tables,
  type WriteMode,
  type WriteOptions,
} from './tables.ts'

/** The tables of a data directory, which a server may use at the same time. */
export function localTables(place: Workplace): Tables {
  const { engine } = place
  const access = new Access(engine.database)
  return {
    ...localSources(place),
    repositories: async () => engine.repositories(),
    datasets: async () => engine.datasets(),
    createRepository: async (fields) => engine.createRepository(fields),
    members: (id) => access.members(id),
    setMember: (id, account, permission) => access.setMember(id, account, permission),
    async removeMember(id, account) {
      if (await access.removeMember(id, account)) return
      throw new ServerError('not_found', `Repository ${id} has no member ${JSON.stringify(account)}.`)
    },
    createDataset: async (fields) => engine.createDataset(fields),
    async saveQuery({ query, ...fields }) {
      const { saved, columns } = await engine.defineQuery(query)
      return engine.createDataset({ ...fields, columns, query: saved })
    },
    deleteDataset: async (id) => engine.deleteDataset(id),
    dataset: async (id) => (await engine.dataset(id)).record(),
    async describe(id, { columns, ...fields }) {
      const dataset = await engine.dataset(id)
      const declared = columns && withWords((await dataset.record()).columns, columns)
      await engine.updateDataset(id, fields)
      if (declared) await dataset.declareColumns(declared)
    },
    async write(id: number, mode: WriteMode, file: ImportedFile, { on, ...options }: WriteOptions) {
      const { from, format, gzip } = file
      const body = 'file' in from ? { file: from.file } : from
      const dataset = await engine.dataset(id)
      const given = { body, format, gzip, ...uploadOptions(file.options), ...(on && { on }), ...options }
      const { options: chosen, ...written } = await dataset[mode](given)
      return { ...written, ...(chosen && { options: optionTexts(chosen) }) }
    },
    versions: async (id) => (await engine.dataset(id)).versions({ limit: MOST_VERSIONS }),
    restore: async (id, version, note) => (await engine.dataset(id)).restore({ version }, { note }),
    async *sql(text, format, { top, skip, ...options }, signal) {
      using query = await engine.sql(text, undefined, { top, skip, signal })
      await using stream = await query.bytes(format, { signal, ...encodingOf(options) })
      yield* stream
    },
    async *read(id: number, format: Format, options: ExportOptions, signal: AbortSignal) {
      const dataset = await engine.dataset(id)
      using query = await dataset.query({ ...pick(options, QUERY), ...pick(options, VERSION) })
      const { name: sheetName } = await dataset.record()
      await using stream = await query.bytes(format, { signal, sheetName, ...encodingOf(options) })
      yield* stream
    },
  }
}
