import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { commandOf } from './tools.ts'

const KEY = { id: 'parquetry-tests', secret: 'secret-of-the-tests' }
const BUCKET = 'tests'

/** A certificate and its key, each in a file. */
export interface TlsFiles {
  readonly certificate: string
  readonly key: string
}

interface Make {
  readonly command: string
  readonly arguments: (port: number, folder: string, tls: readonly string[]) => string[]
  /** Whether it knows If-None-Match. */
  readonly conditional: boolean
}

const VERSITYGW: Make = {
  command: 'versitygw',
  arguments: (port, folder, tls) => [
    ...[...tls, '--port', `127.0.0.1:${port}`, '--access', KEY.id, '--secret', KEY.secret, '--quiet'],
    ...['posix', '--sidecar', join(folder, 'metadata'), join(folder, 'data')],
  ],
  conditional: true,
}

const RCLONE: Make = {
  command: 'rclone',
  arguments: (port, folder, tls) => [
    ...['serve', 's3', ...tls, '--addr', `127.0.0.1:${port}`, '--auth-key', `${KEY.id},${KEY.secret}`],
    ...['--config', '/dev/null', join(folder, 'data')],
  ],
  conditional: false,
}

/** Servers that can be started here. */
export const S3_SERVERS: readonly (Make & { readonly path: string })[] = [VERSITYGW, RCLONE].flatMap(
  (make) => {
    const path = commandOf(make.command)
    return path ? [{ ...make, path }] : []
  },
)

if (S3_SERVERS.length === 0) {
  console.warn(
    'NOT RUN: what needs an S3 server. npm run cluster:install brings one; versitygw or rclone on the PATH will do.',
  )
}

interface StartOptions {
  readonly make?: (typeof S3_SERVERS)[number] | undefined
  /** Kept when the server ends; one that goes with it where none is named. */
  readonly folder?: string
  /** Whether it goes on when Ctrl+C is pressed, until it is disposed. */
  readonly detached?: boolean
  /** Makes it speak TLS alone. */
  readonly tls?: TlsFiles
}

/** A real S3 server with one bucket, on 127.0.0.1. Dispose it. */
export class S3Server implements AsyncDisposable {
  readonly bucket = BUCKET
  readonly port: number
  readonly #make: (typeof S3_SERVERS)[number]
  readonly folder: string
  readonly #isOwnFolder: boolean
  readonly #detached: boolean
  readonly #tls: TlsFiles | undefined
  #child: ChildProcess | undefined

  static async start({ make = S3_SERVERS[0]!, ...options }: StartOptions = {}): Promise<S3Server> {
    // The SDK finds them as it does in production.
    process.env['AWS_ACCESS_KEY_ID'] = KEY.id
    process.env['AWS_SECRET_ACCESS_KEY'] = KEY.secret
    const server = new S3Server(make, await freePort(), options)
    await server.start()
    return server
  }

  private constructor(
    make: (typeof S3_SERVERS)[number],
    port: number,
    { folder, detached = false, tls }: StartOptions,
  ) {
    this.#make = make
    this.#tls = tls
    this.#detached = detached
    this.port = port
    this.#isOwnFolder = folder === undefined
    this.folder = folder ?? mkdtempSync(join(tmpdir(), 'parquetry-s3-'))
    mkdirSync(join(this.folder, 'data', BUCKET), { recursive: true })
    mkdirSync(join(this.folder, 'metadata'), { recursive: true })
  }

  get endpoint(): string {
    return this.#tls ? `https://localhost:${this.port}` : `http://127.0.0.1:${this.port}`
  }

  address(prefix: string): string {
    return `s3://${BUCKET}/${prefix}`
  }

  /** What a process must be told to keep its rows here. */
  environment(prefix: string): Record<string, string> {
    return {
      PARQUETRY_STORE: this.address(prefix),
      PARQUETRY_S3_ENDPOINT: this.endpoint,
      AWS_ACCESS_KEY_ID: KEY.id,
      AWS_SECRET_ACCESS_KEY: KEY.secret,
    }
  }

  /** Resolves when it answers. It has what it had before. */
  async start(): Promise<void> {
    const tls = this.#tls ? ['--cert', this.#tls.certificate, '--key', this.#tls.key] : []
    const child = spawn(this.#make.path, this.#make.arguments(this.port, this.folder, tls), {
      stdio: 'ignore',
      detached: this.#detached,
    })
    this.#child = child
    while (!(await answers(this.endpoint))) {
      if (child.exitCode !== null) throw new Error(`${this.#make.command} ended with ${child.exitCode}`)
      await wait(20)
    }
  }

  /** Ends it as a power cut does. */
  async kill(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((done) => child.once('exit', done))
    child.kill('SIGKILL')
    await gone
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    if (this.#isOwnFolder) rmSync(this.folder, { recursive: true, force: true })
  }
}

async function answers(address: string): Promise<boolean> {
  return fetch(address).then(
    () => true,
    // This process doesn't know the authority of its certificate, but gets to see it.
    ({ cause }) => /CERT|UNABLE_TO_VERIFY/.test(cause?.code),
  )
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  await new Promise((done) => server.close(done))
  return port
}
