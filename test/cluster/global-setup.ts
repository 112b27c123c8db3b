import { S3_SERVERS, S3Server } from './s3-server.ts'

/** One S3 server for all tests. */
export default async function setup(): Promise<() => Promise<void>> {
  if (S3_SERVERS.length === 0)
    throw new Error('npm run test:cluster needs an S3 server: npm run cluster:install')
  const server = await S3Server.start()
  process.env['CLUSTER_BUCKET'] = server.bucket
  process.env['CLUSTER_ENDPOINT'] = server.endpoint
  return () => server[Symbol.asyncDispose]()
}
