import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PostgresDatabase } from '../../engine/catalog/postgres/postgres.ts'
import { HAS_CLUSTER, json, ROOT } from '../nodes/cluster.ts'
import { basic } from '../server/platform.ts'
import { runCommand, serveProcess } from '../server/process.ts'
import { type Postgres, postgresPrograms, startPostgres } from './postgres.ts'
import { freePort, S3Server } from './s3-server.ts'

/** Debian's `nobody`, as whom PostgreSQL runs here; it refuses a key that others may read. */
const NOBODY = 65_534

describe.runIf(HAS_CLUSTER)('PostgreSQL and a store with certificates of our own authority', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-tls-'))
  const authority = join(folder, 'ca.crt')
  const other = join(folder, 'other.crt')
  let postgres: Postgres
  let store: S3Server
  let port: number
  beforeAll(async () => {
    chmodSync(folder, 0o755)
    writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost')
    for (const name of ['ca', 'other']) {
      openssl(
        `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${name} -keyout ${name}.key -out ${name}.crt`,
      )
    }
    openssl('req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr')
    openssl(
      'x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt',
    )
    const tls = { certificate: join(folder, 'server.crt'), key: join(folder, 'server.key') }
    chmodSync(tls.key, 0o600)
    if (process.getuid?.() === 0) chownSync(tls.key, NOBODY, NOBODY)
    store = await S3Server.start({ tls })
    port = await freePort()
    const settings = ['ssl=on', `ssl_cert_file=${tls.certificate}`, `ssl_key_file=${tls.key}`]
    postgres = await startPostgres({ programs: postgresPrograms()!, port, settings })
  })
  afterAll(async () => {
    await postgres?.[Symbol.asyncDispose]()
    await store?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  function openssl(args: string): void {
    execFileSync('openssl', args.split(' '), { cwd: folder, stdio: 'pipe' })
  }

  const address = (host: string, parameters: string) =>
    `postgres://postgres@${host}:${port}/postgres?${parameters.replace('CA', authority).replace('OTHER', other)}`
  const environment = (database: string, known: string) => ({
    ...store.environment('rows'),
    PARQUETRY_DATABASE: database,
    PARQUETRY_ROOT_KEY: ROOT,
    NODE_EXTRA_CA_CERTS: known,
  })

  it('serve rows', async () => {
    const database = address('localhost', 'sslmode=verify-full&sslrootcert=CA')
    const settings = { data: join(folder, 'node'), environment: environment(database, authority) }
    await using node = await serveProcess(settings)
    const ask = (method: string, path: string, body?: object | string) =>
      fetch(node.url + path, {
        method,
        headers: {
          authorization: basic(ROOT),
          'content-type': typeof body === 'string' ? 'text/csv' : 'application/json',
        },
        body: typeof body === 'object' ? JSON.stringify(body) : (body ?? null),
      })
    const { id: repositoryId } = await json<{ id: number }>(ask('POST', '/repositories', { name: 'r' }))
    const { id } = await json<{ id: number }>(ask('POST', '/datasets', { name: 'd', repositoryId }))
    await json(ask('PUT', `/datasets/${id}/data`, 'n\n1\n'))
    expect(await (await ask('GET', `/datasets/${id}/data`)).text()).toBe('n\n1\n')
    expect(node.said().err).toBe('')
  })

  it.each([
    ['require', 'localhost', 'sslmode=require'],
    ['require, without comparing the name', '127.0.0.1', 'sslmode=require'],
    ['verify-ca', 'localhost', 'sslmode=verify-ca&sslrootcert=CA'],
    ['verify-ca, without comparing the name', '127.0.0.1', 'sslmode=verify-ca&sslrootcert=CA'],
    ['verify-full', 'localhost', 'sslmode=verify-full&sslrootcert=CA'],
    ['no-verify', '127.0.0.1', 'sslmode=no-verify'],
  ])('are reached with %s', async (_, host, parameters) => {
    const database = await PostgresDatabase.open(address(host, parameters))
    const sql = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'
    expect(await database.get(sql)).toEqual({ ssl: true })
    await database.close()
  })

  it.each([
    ['of another authority', 'localhost', 'sslmode=verify-ca&sslrootcert=OTHER', /certificate.*sslrootcert/],
    ['of an unknown authority', 'localhost', 'sslmode=verify-full', /certificate.*sslrootcert/],
    ['of another name', '127.0.0.1', 'sslmode=verify-full&sslrootcert=CA', /altnames|IP.*sslrootcert/],
    [
      'that can not be read',
      'localhost',
      'sslmode=require&sslcert=/no/my.crt',
      /sslcert.*\/no\/my\.crt \(ENOENT\)/,
    ],
    ['and without a file', 'localhost', 'sslmode=verify-ca', /verify-ca needs sslrootcert/],
    ['in an unknown mode', 'localhost', 'sslmode=verify', /one of disable, require.*\(got verify\)/],
  ])('are refused with a certificate %s', async (_, host, parameters, message) => {
    await expect(PostgresDatabase.open(address(host, parameters))).rejects.toThrow(message)
  })

  it('say what is missing when the authority of the store is not known', async () => {
    const unknown = environment(address('localhost', 'sslmode=require'), other)
    const args = ['--data', join(folder, 'guest'), 'account', 'list']
    const { code, err } = await runCommand(args, unknown)
    expect(code).toBe(1)
    expect(err).toMatch(/^parquetry: The certificate of the store .*NODE_EXTRA_CA_CERTS.*\n$/)
  })
})
