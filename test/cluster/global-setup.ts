import { postgresPrograms, startPostgres } from './postgres.ts'
import { S3_SERVERS, S3Server } from './s3-server.ts'

/** One PostgreSQL and one S3 server for all tests. */
export default async function setup(): Promise<() => Promise<void>> {
  const programs = postgresPrograms()
  if (S3_SERVERS.length === 0 || !programs)
    throw new Error('npm run test:cluster needs PostgreSQL and an S3 server: npm run cluster:install')
  const store = await S3Server.start()
  const postgres = await startPostgres({ programs })
  process.env['CLUSTER_BUCKET'] = store.bucket
  process.env['CLUSTER_ENDPOINT'] = store.endpoint
  process.env['CLUSTER_POSTGRES'] = postgres.url
  return async () => {
    await store[Symbol.asyncDispose]()
    await postgres[Symbol.asyncDispose]()
  }
}
