import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, test, vi } from 'vitest'
import { Changes } from '../../engine/catalog/postgres/changes.ts'

/** A message of PostgreSQL's protocol, version 3. */
function message(kind: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(4 + body.length)
  return Buffer.concat([Buffer.from(kind), length, body])
}
const AUTHENTICATED = message('R', Buffer.alloc(4))
const READY = message('Z', Buffer.from('I'))
const REFUSED = message('E', Buffer.from('SERROR\0C53200\0Mout of memory\0\0'))

test('a connection that can not listen is closed', async () => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    socket.once('data', () => {
      socket.write(Buffer.concat([AUTHENTICATED, READY]))
      socket.on('data', (asked) => asked[0] === 0x51 && socket.write(Buffer.concat([REFUSED, READY])))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    const changes = new Changes(`postgres://nobody@127.0.0.1:${port}/catalog`, () => {})
    await expect(changes.start()).rejects.toThrow('out of memory')
    await vi.waitFor(() => expect(sockets.size).toBe(0))
  } finally {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
})
