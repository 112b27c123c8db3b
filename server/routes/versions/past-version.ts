import type { FastifyReply } from 'fastify'
import { type Dataset, pastVersion } from '../../../engine/index.ts'
import { fromHttp, VERSION } from '../../../engine/options.ts'

/** A version that a request asked for. */
export interface AskedVersion {
  readonly number: number
  readonly createdAt: string
  readonly rowCount: number
}

/**
 * The version that the parameters `$version` and `asOf` mean; undefined where neither is given. The answer then says
 * which version it is, and when that was made (RFC 7089).
 * @param prefix of all paths of the service
 * @throws EngineError `not_found`, `version_gone`, `invalid_option`
 */
export async function askedVersion(
  dataset: Dataset,
  query: object,
  reply: FastifyReply,
  prefix: string,
): Promise<AskedVersion | undefined> {
  const past = pastVersion(fromHttp(query, VERSION))
  if (past === undefined) return undefined
  const found = await dataset.find(past)
  reply.headers({
    'memento-datetime': new Date(found.createdAt).toUTCString(),
    link: `<${prefix}/datasets/${dataset.id}/versions/${found.number}>; rel="memento"`,
  })
  return found
}
