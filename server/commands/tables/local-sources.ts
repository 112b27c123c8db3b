import { ServerError } from '../../http/errors.ts'
import { openProviders } from '../../providers.ts'
import { sourceRecord } from '../../routes/source.ts'
import { openServices, type Services } from '../../services.ts'
import { holdsOtherData } from '../../sources/conflicts.ts'
import { holdsSeriesAlone } from '../../sources/rows.ts'
import { Sources } from '../../sources/sources.ts'
import { checkedWanted } from '../../sources/wanted.ts'
import { ownVersion } from '../../version.ts'
import { UsageError } from '../usage.ts'
import type { Workplace } from '../workplace.ts'
import type { Tables } from './tables.ts'

/**
 * The followed series of datasets in a data directory. The command makes the first refresh itself; a server makes the
 * later ones.
 */
export function localSources({ engine, config }: Workplace): Pick<Tables, 'source' | 'follow' | 'unfollow'> {
  const sources = new Sources(engine.database)
  return {
    async source(id) {
      const source = await sources.get(id)
      return source && sourceRecord(source)
    },
    async unfollow(id) {
      if (!(await sources.remove(id)))
        throw new ServerError('not_followed', `Dataset ${id} follows neither series nor a file.`)
    },
    async follow(id, fields) {
      const connectors = await openProviders(config, engine.database, () => {})
      const services = await openServices({ config, engine, connectors, version: ownVersion() })
      try {
        const slugs = connectors.list().map(({ slug }) => slug)
        const wanted = checkedWanted(fields, { slugs, most: config.limits.savedSeries })
        const record = await (await engine.dataset(id)).record()
        if (!holdsSeriesAlone(record.columns)) throw holdsOtherData(record.name)
        const accountId = await ownerOf(services, record.repositoryId)
        const { done } = await services.refresher.follow({
          datasetId: id,
          accountId,
          address: null,
          ...wanted,
        })
        await done
        return sourceRecord((await sources.get(id))!)
      } finally {
        await services.refresher.close()
        await connectors.close()
      }
    },
  }
}

/** The account whose keys and limits apply to requests to providers: the owner of the repository. */
async function ownerOf({ accounts, access }: Services, repositoryId: number): Promise<number> {
  const [anybody] = await accounts.list()
  if (anybody === undefined) {
    throw new UsageError(
      'There is no account yet, so no series can be fetched; `parquetry serve` creates one.',
    )
  }
  return (await access.of(repositoryId, anybody)).ownerId
}
