import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { httpWords } from '../../../engine/errors.ts'
import type { Engine, Handle } from '../../../engine/index.ts'
import { optionTexts, pick, QUERY, READING, VERSION } from '../../../engine/options.ts'
import { Access } from '../../accounts/access.ts'
import { Accounts, ANONYMOUS } from '../../accounts/accounts.ts'
import type { Config } from '../../config/schema.ts'
import { ServerError } from '../../http/errors.ts'
import { openProviders } from '../../providers.ts'
import type { Source } from '../../records/index.ts'
import { openServices, type Services } from '../../services.ts'
import { Sources } from '../../sources/sources.ts'
import { checkedSource } from '../../sources/wanted.ts'
import { encodingOf, uploadOptions } from '../../transfers/formats.ts'
import { ownVersion } from '../../version.ts'
import { oneOf, UsageError } from '../usage.ts'
import type { Tables } from './tables.ts'

/** What a command works on: the data directory, which other processes may have open too. */
export interface Workplace {
  readonly engine: Engine
  readonly config: Config
}

/** The tables of a data directory, which a server may use at the same time. */
export function localTables(workplace: Workplace): Tables {
  const { engine } = workplace
  return {
    repositories: localRepositories(engine),
    datasets: localDatasets(workplace),
    accounts: localAccounts(workplace),
    async write(id, mode, file, { on, idempotencyKey: _, ...options }) {
      const { from, format, gzip } = file
      const body = 'file' in from ? { file: from.file } : from
      const dataset = await engine.dataset(id)
      const given = {
        body,
        format,
        gzip,
        ...uploadOptions(file.options),
        ...(on && { on }),
        words: httpWords,
        ...options,
      }
      const { options: chosen, ...written } = await dataset[mode](given)
      return { ...written, ...(chosen && { options: optionTexts(chosen, READING) }) }
    },
    async *sql(text, format, { top, skip, ...options }, signal) {
      using query = await engine.sql(text, undefined, {
        top,
        skip,
        signal,
        tables: () => tablesOf(workplace),
      })
      await using stream = await query.bytes(format, { signal, ...encodingOf(options) })
      yield* stream
    },
    async *read(id, format, options, signal) {
      const dataset = await engine.dataset(id)
      using query = await dataset.query({ ...pick(options, QUERY), ...pick(options, VERSION) })
      const { name: sheetName } = await dataset.record()
      await using stream = await query.bytes(format, { signal, sheetName, ...encodingOf(options) })
      yield* stream
    },
  }
}

/** The names of the owners of all repositories, by their ids; none before there is an account. */
async function ownersIn({ database }: Engine): Promise<ReadonlyMap<number, string>> {
  const all = await new Access(database).readable({ ...ANONYMOUS, admin: true })
  return new Map([...all].map(([id, { owner }]) => [id, owner.name]))
}

async function tablesOf({ engine }: Workplace) {
  const owners = await ownersIn(engine)
  return (await engine.sqlTables()).map((one) => ({ ...one, owner: owners.get(one.repositoryId) }))
}

function localRepositories(engine: Engine): Tables['repositories'] {
  const access = new Access(engine.database)
  return {
    list: async () => {
      const owners = await ownersIn(engine)
      return (await engine.repositories()).map(({ id, name }) => ({ id, name, owner: owners.get(id) }))
    },
    create: async (fields) => engine.createRepository(fields),
    members: (id) => access.members(id),
    setMember: (id, account, permission) => access.setMember(id, account, permission),
    async removeMember(id, account) {
      if (await access.removeMember(id, account)) return
      throw new ServerError('not_found', `Repository ${id} has no member ${JSON.stringify(account)}.`)
    },
  }
}

function localDatasets(workplace: Workplace): Tables['datasets'] {
  const { engine, config } = workplace
  const sources = new Sources(engine.database)
  return {
    list: async () => engine.datasets(),
    get: async (id) => (await engine.dataset(id)).record(),
    async create({ query, ...fields }) {
      if (query === undefined) return engine.createDataset(fields)
      const { saved, columns } = await engine.defineQuery(query, { tables: () => tablesOf(workplace) })
      return engine.createDataset({ ...fields, columns, query: saved })
    },
    async patch(id, { columns, ...fields }) {
      if (!columns) return engine.updateDataset(id, fields)
      const accept = async (_: unknown, t: Handle) => void (await engine.updateDataset(id, fields, t))
      return (await engine.dataset(id)).describeColumns(columns, { accept })
    },
    delete: (id) => engine.deleteDataset(id),
    versions: async (id, page) => (await engine.dataset(id)).versions(page),
    restore: async (id, version, change) => (await engine.dataset(id)).restore({ version }, change),
    undo: async (id, version, change) => (await engine.dataset(id)).undo(version, change),
    editRows: async (id, filter, values, change) =>
      (await engine.dataset(id)).editRows({ filter }, values, change),
    async source(id) {
      return (await sources.get(id)) && sources.record(id, engine)
    },
    unfollow: (id) => sources.remove(id),
    // The command makes the first refresh itself; a server makes the later ones.
    async follow(id, fields) {
      const connectors = await openProviders(config, engine.database, () => {})
      const services = await openServices({ config, engine, connectors, version: ownVersion() })
      try {
        const record = await (await engine.dataset(id)).record()
        const checked = await checkedSource(
          record,
          fields,
          config,
          async () => connectors,
          await sources.get(id),
        )
        const accountId = await ownerOf(services, record.repositoryId)
        const { done } = await services.refresher.follow(
          { datasetId: id, accountId, ...checked },
          fields.confirm,
        )
        await done
        return await sources.record(id, engine)
      } finally {
        await services.refresher.close()
        await connectors.close()
      }
    },
  }
}

function localAccounts({ engine, config }: Workplace): Tables['accounts'] {
  const accounts = new Accounts(engine.database)
  const planOf = (plan: string) => oneOf('plan', Object.keys(config.plans), plan)
  const idOf = async (name: string) => (await accounts.byName(name)).id
  return {
    list: () => accounts.list(),
    async create({ name, plan }) {
      return { apiKey: (await accounts.create({ name, plan: planOf(plan) })).key }
    },
    update: async (name, { plan, ...changes }) =>
      accounts.update(await idOf(name), { ...changes, ...(plan !== undefined && { plan: planOf(plan) }) }),
    rotateKey: async (name) => ({ apiKey: await accounts.rotateKey(await idOf(name)) }),
  }
}

/**
 * Makes files the rows of a dataset, which are read where they are.
 * @param every how often a server looks whether there are others; undefined: it doesn't
 */
export async function attachFiles(
  { engine }: Workplace,
  id: number,
  path: string,
  { every, note }: { readonly every: Source['every'] | undefined; readonly note: string | undefined },
) {
  const { database } = engine
  const sources = new Sources(database)
  const record = await (await engine.dataset(id)).attach(path, { note })
  const isFollowing = (await sources.get(id)) !== undefined
  if (every === undefined) {
    if (isFollowing) await sources.remove(id)
    return record
  }
  const places = { accounts: new Accounts(database), access: new Access(database) }
  const accountId = await ownerOf(places, record.repositoryId)
  const now = new Date()
  const token = randomUUID()
  const address = { files: path.startsWith('s3://') ? path : resolve(path) }
  await sources.set(
    { datasetId: id, accountId, series: [], address, start: null, every },
    { now, token, until: now },
  )
  await sources.release(id, token)
  return record
}

/** The account whose keys and limits apply to requests to providers: the owner of the repository. */
async function ownerOf(
  { accounts, access }: Pick<Services, 'accounts' | 'access'>,
  repositoryId: number,
): Promise<number> {
  const [anybody] = await accounts.list()
  if (anybody === undefined) {
    throw new UsageError(
      'There is no account yet, so nothing can be followed; `parquetry serve` creates one.',
    )
  }
  return (await access.of(repositoryId, anybody)).owner.id
}
