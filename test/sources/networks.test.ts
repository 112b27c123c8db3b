import type { lookup } from 'node:dns'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkedAddress } from '../../server/sources/fetch-address.ts'
import { isPrivate } from '../../server/sources/networks.ts'
import { type Platform, platform } from '../server/platform.ts'

/** The first and the last address, or another one, of each special range. */
const PRIVATE = `
0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 127.255.255.255 169.254.0.0
169.254.169.254 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 192.0.2.1 192.88.99.1 192.168.0.0 192.168.255.255
198.18.0.0 198.19.255.255 198.51.100.7 203.0.113.7 224.0.0.1 239.255.255.255 240.0.0.0 255.255.255.255
:: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:8.8.8.8 64:ff9b::1 64:ff9b:1::1 100::1 2001::1 2001:db8::1
2001:1ff:ffff:: 2002:7f00:1:: 2002:808:808::1 3fff::1 3fff:fff:: 4000::1 5f00::1 8000::1 fc00::1 fd00::1 fdff:ffff::1
fe80::1 febf::1 fe80::1%eth0 fec0::1 ff02::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff`
  .trim()
  .split(/\s+/)

/** The neighbours of those ranges, and addresses of all parts of the internet. */
const PUBLIC = `
1.0.0.0 1.1.1.1 8.8.8.8 9.9.9.9 9.255.255.255 11.0.0.0 13.107.42.14 17.253.144.10 23.185.0.2 31.13.71.36 34.117.59.81
45.33.32.156 52.84.162.20 64.233.160.0 65.9.86.1 77.88.55.88 80.67.169.12 91.198.174.192 93.184.216.34 99.86.0.1
100.63.255.255 100.128.0.0 104.16.132.229 126.255.255.255 128.0.0.0 129.42.38.10 140.82.121.3 151.101.1.69
157.240.1.35 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 185.199.108.153 191.255.255.255 192.0.1.0
192.0.3.0 192.88.98.255 192.167.255.255 192.169.0.0 193.0.6.139 198.17.255.255 198.20.0.0 198.51.99.255 199.232.0.1
203.0.112.255 203.0.114.0 208.67.222.222 216.58.214.14 223.255.255.255
2001:200::1 2001:4860:4860::8888 2001:db7:ffff::1 2001:db9::1 2003::1 2400:cb00::1 2606:4700::6810:84e5
2620:fe::fe 2a00:1450:4001::200e 2c0f:f248::1 3ffe:ffff::1`
  .trim()
  .split(/\s+/)

describe('an address', () => {
  it.each(PRIVATE)('%s is not of the internet', (address) => {
    expect(isPrivate(address)).toBe(true)
  })

  it('is one of the internet otherwise', () => {
    expect(PUBLIC.length).toBeGreaterThan(60)
    expect(PUBLIC.filter(isPrivate)).toEqual([])
    const hosts = { hosts: [], privateHosts: [] }
    for (const address of PUBLIC) {
      const host = address.includes(':') ? `[${address}]` : address
      expect(checkedAddress(`https://${host}/x.csv`, hosts).hostname).toBe(new URL(`http://${host}`).hostname)
    }
  })

  it('is none if it is no address', () => {
    expect(isPrivate('example.org')).toBe(true)
  })
})

describe('a followed file at a name', () => {
  let at: Platform
  let now = new Date('2030-01-01T00:00:00Z')
  let found: readonly string[]
  const names: string[] = []
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  const server = createServer((request, response) => answer(request, response))
  let port: number
  let id: number

  /** Any name has the addresses in `found`, and 127.0.0.1 counts as one of the internet. */
  const network = {
    lookup: ((name: string, _: object, done: (error: null, all: object[]) => void) => {
      names.push(name)
      done(
        null,
        found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    }) as unknown as typeof lookup,
    isPrivate: (address: string) => address !== '127.0.0.1' && isPrivate(address),
  }

  beforeAll(async () => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    port = (server.address() as AddressInfo).port
    at = await platform({ now: () => now, network })
    const { id: repositoryId } = (
      await at.call(at.root, 'POST', '/repositories', { json: { name: 'r' } })
    ).json()
    id = (await at.call(at.root, 'POST', '/datasets', { json: { name: 'd', repositoryId } })).json().id
  })
  afterAll(async () => {
    await at[Symbol.asyncDispose]()
    server.close()
  })

  const later = async () => {
    now = new Date(now.getTime() + 2 * 86_400_000)
    await at.services.refresher.runDue()
    return (await at.call(at.root, 'GET', `/datasets/${id}/source`)).json().lastError as string | null
  }
  const rows = async () => (await at.call(at.root, 'GET', `/datasets/${id}/data`)).body

  it('is fetched from its public address, under its own name', async () => {
    found = ['127.0.0.1']
    let host: string | undefined
    answer = (request, response) => {
      host = request.headers.host
      response.end('a\n1\n')
    }
    const url = `http://files.example:${port}/x.csv`
    await at.call(at.root, 'PUT', `/datasets/${id}/source`, { json: { url } })
    await at.services.refresher.runDue()
    const source = await at.call(at.root, 'GET', `/datasets/${id}/source`)
    expect(source.json()).toMatchObject({ lastError: null, lastVersion: 1 })
    expect(await rows()).toBe('a\n1\n')
    expect([host, names]).toEqual([`files.example:${port}`, ['files.example']])
  })

  it.each([
    [['10.0.0.1']],
    [['127.0.0.2']],
    [['127.0.0.1', '192.168.1.1']],
    [['::1']],
    [['fd00::1', '127.0.0.1']],
    [['::ffff:10.0.0.1']],
    [['169.254.169.254']],
  ])('is not fetched once the name means %j, and keeps its rows', async (addresses) => {
    found = addresses
    let count = 0
    answer = (_, response) => {
      count++
      response.end('a\n2\n')
    }
    expect(await later()).toMatch(/^files\.example(:\d+)? can't be reached/)
    expect([count, await rows()]).toEqual([0, 'a\n1\n'])
  })

  it('follows a redirect on its own server, looking its name up again', async () => {
    found = ['127.0.0.1']
    names.length = 0
    answer = ({ url }, response) =>
      url === '/x.csv' ? response.writeHead(302, { location: '/y.csv' }).end() : response.end('a\n3\n')
    expect(await later()).toBeNull()
    expect(await rows()).toBe('a\n3\n')
    expect(names).toEqual(['files.example', 'files.example'])
  })

  it('is not fetched through a redirect after which its name means another address', async () => {
    found = ['127.0.0.1']
    let count = 0
    answer = (_, response) => {
      count++
      found = ['10.0.0.1']
      response.writeHead(302, { location: '/y.csv' }).end()
    }
    expect(await later()).toMatch(/can't be reached/)
    expect([count, await rows()]).toEqual([1, 'a\n3\n'])
  })

  it.each([
    'http://10.0.0.1/x.csv',
    'http://[::1]/x.csv',
    'http://other.example/x.csv',
    'file:///etc/hosts',
  ])('does not follow a redirect to %s', async (location) => {
    found = ['127.0.0.1']
    answer = (_, response) => response.writeHead(302, { location }).end()
    expect(await later()).toMatch(/redirects to .*another server|answered with status 302/)
    expect(await rows()).toBe('a\n3\n')
  })
})
