import { appendFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { Engine } from '../../engine/index.ts'

/** A service as Trino finds it, while it has the address of the catalog for itself. */
export interface Forced {
  readonly trinoUrl: string
  /** Answers Trino's requests. */
  serve(listener: RequestListener, engine: Engine): void
  close(): Promise<void>
}

/**
 * In the tests of `test/trino/vitest.config.ts`, which have one Trino for all services, whose catalog is at one address:
 * makes a service the one behind it. undefined in all other tests, and while another service has the address.
 */
export async function forced(): Promise<Forced | undefined> {
  const { TRINO_FORCED_URL: trinoUrl, TRINO_FORCED_PORT: port, TRINO_FORCED_TALLY: tally } = process.env
  if (!trinoUrl || !port || !tally) return undefined
  let listener: RequestListener | undefined
  let engine: Engine | undefined
  const server = createServer((request, response) => listener?.(request, response))
  const listens = await new Promise<boolean>((done) => {
    server.once('error', () => done(false))
    server.listen(Number(port), '127.0.0.1', () => done(true))
  })
  if (!listens) return undefined
  return {
    trinoUrl,
    serve: (given, of) => {
      listener = given
      engine = of
    },
    async close() {
      const figures = (await engine?.stats())?.executor?.trino
      if (figures) appendFileSync(tally, `${JSON.stringify(figures)}\n`)
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
