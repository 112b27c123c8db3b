// The API under /tables of an application that has routes of its own.
//
//   node inside-fastify.ts
import Fastify from 'fastify'
import { openEngine } from 'parquetry'
import { Client } from 'parquetry/client'
import { openConnectors } from 'parquetry/connectors'
import { openServices, parquetry, readConfig } from 'parquetry/server'

const config = readConfig({ data: 'example-server' }, {})
const engine = await openEngine({ directory: config.data, role: 'server' })
const connectors = openConnectors()
const services = await openServices({ config, engine, connectors, version: '1' })

const app = Fastify()
app.get('/health', async () => 'well')
await app.register(parquetry(services), { prefix: '/tables' })
const url = await app.listen({ port: 0 })
// From now on, datasets that follow series of providers are refreshed when they are due.
services.refresher.start()

try {
  // Accounts are made in the process; the key is shown this once.
  const { key } = await services.accounts.create({ name: `reporting-${Date.now()}`, plan: 'unlimited' })
  const client = new Client({ url: `${url}/tables`, key })
  const { name } = await client.account.get()
  console.log(name.startsWith('reporting'), await (await fetch(`${url}/health`)).text())
} finally {
  await app.close()
  await services.refresher.close()
  await services.usage.flush()
  await Promise.all([connectors.close(), engine.close()])
}
