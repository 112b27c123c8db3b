import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Served, serveProcess } from '../server/process.ts'
import type { Cluster } from './cluster.ts'

/** A node in a process of its own, which has another address after each start. */
export class NodeProcess {
  readonly name: string
  readonly #data: string
  readonly #environment: Readonly<Record<string, string>>
  #served: Served | undefined

  /**
   * @param config settings as the configuration file has them
   * @param environment settings that are not in it
   */
  constructor(cluster: Cluster, name: string, config: object = {}, environment: Record<string, string> = {}) {
    this.name = name
    this.#data = join(cluster.folder, name)
    const file = join(cluster.folder, `${name}.json`)
    writeFileSync(file, JSON.stringify(config))
    this.#environment = {
      ...cluster.environment(),
      PARQUETRY_CONFIG: file,
      PARQUETRY_LOG_LEVEL: 'error',
      // Nothing of a provider is asked here; and if it were, nobody would be there.
      PARQUETRY_PROVIDER_FRED_URL: 'http://127.0.0.1:9',
      // A node that is started a hundred times needn't read its source as often.
      NODE_COMPILE_CACHE: join(cluster.folder, 'compiled'),
      ...environment,
    }
  }

  get url(): string {
    return this.#served!.url
  }

  async start(): Promise<void> {
    this.#served = await serveProcess({ data: this.#data, environment: this.#environment })
  }

  async kill(): Promise<void> {
    await this.#served?.[Symbol.asyncDispose]()
  }

  /** Ends it as an operator does; gives the exit code. */
  async stop(): Promise<number | null> {
    return (await this.#served!.stop()).code
  }
}
