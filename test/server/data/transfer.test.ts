import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Config } from '../../../server/config/schema.ts'
import { Lifecycle, Transfer } from '../../../server/transfers/transfer.ts'

const server = createServer()
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  server.close()
})

/** A request as it came in, and what makes its client leave. */
async function arrived(): Promise<{ raw: ServerResponse; leave: () => Promise<unknown> }> {
  const { port } = server.address() as AddressInfo
  const request = get({ port, host: '127.0.0.1', agent: false }).on('error', () => {})
  const [, raw] = (await once(server, 'request')) as [unknown, ServerResponse]
  return {
    raw,
    leave: () => {
      request.destroy()
      return once(raw, 'close')
    },
  }
}

function transferOf(raw: ServerResponse, lifecycle = new Lifecycle()): Transfer {
  const request = {} as FastifyRequest
  return new Transfer(request, { raw } as FastifyReply, {
    lifecycle,
    config: { timeouts: { stall: 60_000, transfer: 60_000, firstByte: 60_000 } } as Config,
  })
}

test('what is opened for a client gets closed when it leaves', async () => {
  const { raw, leave } = await arrived()
  const transfer = transferOf(raw)
  const cleanUp = vi.fn()
  transfer.onClose(cleanUp)
  await leave()
  expect(transfer.reason).toMatchObject({ code: 'cancelled' })
  expect(cleanUp).toHaveBeenCalledOnce()
})

test('what is opened after the client has left gets closed at once', async () => {
  const { raw, leave } = await arrived()
  const transfer = transferOf(raw)
  await leave()
  const cleanUp = vi.fn()
  transfer.onClose(cleanUp)
  expect(cleanUp).toHaveBeenCalledOnce()
})

test('a transfer that is aborted in the middle of its answer ends the connection, so that the client notices', async () => {
  const { raw } = await arrived()
  const transfer = transferOf(raw)
  raw.write('the first rows')
  const closed = once(raw, 'close')
  transfer.abort(new Error('it took too long'))
  await closed
  expect([raw.writableFinished, transfer.reason]).toEqual([false, new Error('it took too long')])
})

test('a transfer that is aborted before its answer leaves the connection open for the error', async () => {
  const { raw, leave } = await arrived()
  transferOf(raw).abort(new Error('it took too long'))
  expect([raw.destroyed, raw.writable]).toEqual([false, true])
  await leave()
})

test('a transfer whose client left before it began is over', async () => {
  const { raw, leave } = await arrived()
  await leave()
  const transfer = transferOf(raw)
  const cleanUp = vi.fn()
  transfer.onClose(cleanUp)
  expect(transfer.reason).toMatchObject({ code: 'cancelled' })
  expect(cleanUp).toHaveBeenCalledOnce()
})
