import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { migrate, openEngine } from '../../engine/index.ts'
import { SERVER_STEPS } from '../accounts/schema.ts'
import { attachableIn, type ConfigArguments, objectStore, readConfig } from '../config/read.ts'
import { localTables, type Workplace } from './tables/local.ts'
import { remoteTables } from './tables/remote.ts'
import type { Tables } from './tables/tables.ts'
import { UsageError } from './usage.ts'

/** Runs the work of a command on a part of what it works on. */
export type On<Part> = (work: (part: Part) => unknown) => Promise<void>

/** Options that say where the catalog and the rows are. */
export type StorageOptions = Pick<ConfigArguments, 'data' | 'database' | 'store'>

interface TargetOptions extends StorageOptions {
  readonly server?: string
  readonly key?: string
}

/** The commands that work on a server with `--server`. */
const REMOTE =
  'bench, repository, member, import, append, export, edit, undo, describe, sql, source, versions, account, key'

/** Says where commands work: on a data directory or, with `--server`, on a server. */
export class Target {
  readonly #program: Command
  /** Whether the command may begin a data directory. If others did, a typing error in its path would go unnoticed. */
  #creates = false

  constructor(program: Command) {
    this.#program = program
      .option('--data <directory>', 'the data directory (PARQUETRY_DATA)')
      .option(
        '--database <address>',
        'the database of the catalog, as postgres://host/database; prefer PARQUETRY_DATABASE, because process lists show options',
      )
      .option('--store <address>', 'the object store of the rows, as s3://bucket/prefix (PARQUETRY_STORE)')
      .option(
        '--server <url>',
        `use a server, not a data directory; for ${REMOTE}, and to restore a version (PARQUETRY_SERVER)`,
      )
      .option(
        '--key <key>',
        'the API key for the server; prefer PARQUETRY_KEY, because process lists show options',
      )
      .hook('preAction', (_, command) => {
        this.#creates = command.name() === 'create'
      })
  }

  /** Whether `--server` is given. PARQUETRY_SERVER is for the commands that can use it. */
  get isRemote(): boolean {
    return this.#program.opts<TargetOptions>().server !== undefined
  }

  /** Where the catalog and the rows are, as far as the command line says so. @throws UsageError for a server */
  get storage(): StorageOptions {
    if (!this.isRemote) return this.#program.opts()
    throw new UsageError(`This command works on a data directory; --server is for ${REMOTE}.`)
  }

  readonly directory: On<Workplace> = async (work) => {
    const config = readConfig(this.storage)
    // The engine tells whether anything is missing in a directory that has been used.
    const isUsed = ['catalog.sqlite', 'parts'].some((name) => existsSync(join(config.data, name)))
    if (!this.#creates && config.database === undefined && !isUsed) {
      const server = process.env['PARQUETRY_SERVER'] ? ' This command does not use PARQUETRY_SERVER.' : ''
      throw new UsageError(
        `There is no data in ${config.data}: name the data directory with --data or PARQUETRY_DATA.${server}`,
      )
    }
    await using engine = await openEngine({
      directory: config.data,
      database: config.database,
      store: objectStore(config),
      ...attachableIn(config),
      onEvent: ({ message }) => console.error(`parquetry: ${message}`),
      ...config.engine,
    })
    await migrate(engine.database, 'server', SERVER_STEPS)
    await work({ engine, config })
  }

  /** Works on the tables of the data directory or, with `--server`, of a server. */
  readonly tables: On<Tables> = async (work) => {
    const server = this.server()
    if (server) await work(remoteTables(server.url, server.key))
    else await this.directory((workplace) => work(localTables(workplace)))
  }

  /**
   * The server that is named with `--server` or PARQUETRY_SERVER, else the usual one.
   * @throws UsageError if the URL or the key is missing or malformed
   */
  server(usual?: string): { readonly url: string; readonly key: string } | undefined {
    const given = this.#program.opts<TargetOptions>()
    const isHere = (given.data ?? given.database ?? given.store) !== undefined
    if (given.server !== undefined && isHere) {
      throw new UsageError(
        '--server names a server, and --data, --database and --store a directory: give one.',
      )
    }
    const url = given.server ?? ((isHere ? undefined : process.env['PARQUETRY_SERVER']) || usual)
    if (url === undefined) return undefined
    if (!URL.canParse(url) || !/^https?:/.test(url)) {
      throw new UsageError(
        `--server takes an address as https://data.example.org; it is ${JSON.stringify(url)}.`,
      )
    }
    const key = given.key ?? process.env['PARQUETRY_KEY']
    if (!key) throw new UsageError('A server needs an API key: set PARQUETRY_KEY, or give --key.')
    return { url, key }
  }
}
