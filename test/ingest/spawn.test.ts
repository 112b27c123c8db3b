import { readdirSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { Channel } from '../../engine/ingest/process/channel.ts'
import { type Spawned, spawnProgram } from '../../engine/ingest/process/spawn.ts'

const node = (code: string, hasBytes = false): Spawned =>
  spawnProgram([process.execPath, '--input-type=module', '--eval', code], { ANSWER: '42' }, hasBytes)

/** Reads what a program must not be kept waiting for. */
async function endOf(program: Spawned) {
  program.channel!.resume()
  const said = await text(program.stderr!)
  return { said, exit: await program.exited }
}

describe('a program that is started', () => {
  test('has the variables that it is given and no others, and tells how it ended', async () => {
    const code = `console.error(process.env.ANSWER, process.env.HOME); process.exitCode = 3`
    expect(await endOf(node(code))).toEqual({ said: '42 undefined\n', exit: { code: 3, signal: null } })
  })

  test.each(['SIGSEGV', 'SIGTERM', 'SIGKILL'] as const)('and ended by %s says so', async (signal) => {
    const { exit } = await endOf(node(`process.kill(process.pid, '${signal}'); setInterval(() => {}, 1000)`))
    expect(exit).toEqual({ code: null, signal })
  })

  test('can be killed, also when it has ended', async () => {
    const program = node('setInterval(() => {}, 1000)')
    program.kill()
    expect((await endOf(program)).exit).toEqual({ code: null, signal: 'SIGKILL' })
    program.kill()
  })

  test('speaks both ways, in messages of any size, and sends bytes', async () => {
    const large = 'x'.repeat(3_000_000)
    const program = node(
      `import { Socket } from 'node:net'
       import { Channel } from ${JSON.stringify(new URL('../../engine/ingest/process/channel.ts', import.meta.url))}
       const socket = new Socket({ fd: 3 })
       const channel = new Channel(socket, (message) => channel.send(message))
       new Socket({ fd: 4, readable: false, writable: true }).end('some bytes')
       socket.on('close', () => process.exit(0))`,
      true,
    )
    const sent = [{ a: undefined, b: Number.NaN, c: 1n }, large, new Uint8Array([1, 2]), 'last']
    const heard: unknown[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const channel = new Channel(program.channel!, (message) => {
      heard.push(message)
      if (heard.length === sent.length) resolve()
    })
    for (const message of sent) channel.send(message)
    const bytes = text(program.bytes!)
    await promise
    expect(heard).toEqual(sent)
    expect(await bytes).toBe('some bytes')
    program.channel!.destroy()
    program.stderr!.resume()
    expect(await program.exited).toEqual({ code: 0, signal: null })
    channel.send('nobody is there')
  })
})

test.runIf(process.platform === 'linux')('a program that is not there leaves no descriptors', () => {
  const before = readdirSync('/proc/self/fd').length
  expect(() => spawnProgram(['/no/such/program'], {}, true)).toThrow(/could not be started: error 2 /)
  expect(readdirSync('/proc/self/fd')).toHaveLength(before)
})
