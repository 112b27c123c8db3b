import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { basic, type Platform, platform } from '../platform.ts'

let at: Platform
let port: number
beforeAll(async () => {
  at = await platform()
  port = Number(new URL(await at.listen()).port)
})
afterAll(() => at[Symbol.asyncDispose]())

/** Sends lines as they are; gives all that comes until the connection ends or `until` has come. */
async function raw(text: string, until?: RegExp): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(text)
  let answer = ''
  for await (const chunk of socket) {
    answer += String(chunk)
    if (until?.test(answer)) break
  }
  return answer
}

const authorization = () => `Authorization: ${basic(at.root)}\r\n`

describe('what servers in front of this one may read in another way is refused', () => {
  it.each([
    ['two Host headers', 'GET /account HTTP/1.1\r\nHost: a\r\nHost: b\r\n', 'more than one Host header'],
    ['a malformed Host', 'GET /account HTTP/1.1\r\nHost: a b/c\r\n', 'Host header is malformed'],
    ['no Host header', 'GET /account HTTP/1.1\r\n', '"The Host header is missing."'],
    [
      'a transfer coding that is not read',
      'GET /account HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n',
      'Send chunked, and compression as Content-Encoding',
    ],
    [
      'an expectation that is unknown',
      'GET /account HTTP/1.1\r\nHost: a\r\nExpect: nonsense\r\n',
      '"The Expect header is not supported, except 100-continue."',
    ],
    ['HTTP/0.9', 'GET /account HTTP/0.9\r\nHost: a\r\n', ''],
  ])('%s', async (_what, lines, problem) => {
    const answer = await raw(`${lines}${authorization()}\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toMatch(/^connection: close\r$/im)
    expect(answer).toContain(problem)
  })

  it('one Host, with or without a port, is not', async () => {
    for (const host of ['localhost', '127.0.0.1:8080', '[::1]:80', 'a-b.example']) {
      const answer = await raw(
        `GET /account HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${authorization()}\r\n`,
      )
      expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    }
  })

  it('CONNECT, in JSON', async () => {
    const answer = await raw('CONNECT a.example:80 HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 405 /)
    expect(answer).toContain('"code":"method_not_allowed"')
  })

  it('a raw # in a path ends it', async () => {
    const lines = `GET /odata/x#%ff HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${authorization()}`
    expect(await raw(`${lines}\r\n`)).toMatch(/^HTTP\/1\.1 404 /)
  })

  it('a request line without a version gets no rows', async () => {
    expect(await raw('GET /account\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
  })
})

it('a target with scheme and host is read as its path', async () => {
  for (const [path, within] of [
    ['/odata/?$format=json', '"value":[]'],
    ['/account', '"plan":'],
    ['', 'location: /docs'],
    ['?x', 'location: /docs'],
  ]) {
    const answer = await raw(
      `GET http://a.example${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${authorization()}\r\n`,
    )
    expect(answer).toContain(within)
  }
})

describe('a client that waits for 100 Continue', () => {
  const head = (key: string) =>
    `POST /repositories HTTP/1.1\r\nHost: a\r\nAuthorization: ${basic(key)}\r\n` +
    'Content-Type: application/json\r\nContent-Length: 16\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n'

  it('is told to send its body when its key is right', async () => {
    const socket = connect(port, '127.0.0.1')
    socket.write(head(at.root))
    let answer = ''
    for await (const chunk of socket) {
      answer += String(chunk)
      if (answer === 'HTTP/1.1 100 Continue\r\n\r\n') socket.write('{"name":"waited"}'.slice(0, 16))
    }
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /)
    expect(answer).toContain('invalid_json')
  })

  it('is not, when it is wrong', async () => {
    const answer = await raw(head('a-wrong-key-of-nobody'), /\}$/)
    expect(answer).toMatch(/^HTTP\/1\.1 401 /)
  })
})
