import {
  ConnectorError,
  type Connectors,
  type ConnectorsOptions,
  openConnectors,
} from '../../../connectors/index.ts'
import { CONNECTOR_STATUSES } from '../../../server/http/errors.ts'
import { type Routes, startUpstream, type Upstream } from './upstream.ts'

export interface Harness extends AsyncDisposable {
  readonly upstream: Upstream
  readonly connectors: Connectors
}

export interface HarnessOptions extends ConnectorsOptions {
  /** Path of the base address on the fake upstream. */
  readonly base?: string
  /** The service's own key. */
  readonly key?: string
}

/** One provider's connector on a fake upstream. Retries are quick; everything else is as in production. */
export async function harness(slug: string, routes: Routes, options: HarnessOptions = {}): Promise<Harness> {
  const upstream = await startUpstream(routes)
  const { base = '', key, overrides = {}, ...rest } = options
  const connectors = openConnectors({
    retry: { baseMs: 5, longestMs: 10 },
    ...rest,
    overrides: {
      ...overrides,
      [slug]: { baseUrl: upstream.url + base, ...(key === undefined ? {} : { key }), ...overrides[slug] },
    },
  })
  return {
    upstream,
    connectors,
    async [Symbol.asyncDispose]() {
      await connectors.close()
      await upstream.close()
    },
  }
}

/** What a promise was rejected with; an error of the connectors with the status that the server gives it. */
export async function failureOf(promise: Promise<unknown>): Promise<{
  code: string
  status: number
  message: string
  retryAfter?: number
  provider?: string
  cause?: unknown
}> {
  try {
    await promise
  } catch (error) {
    if (error instanceof ConnectorError) Object.assign(error, { status: CONNECTOR_STATUSES[error.code] })
    return error as never
  }
  throw new Error('This should have failed.')
}
