import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { startProgress } from '../../server/commands/progress.ts'

/** A terminal that keeps what is written to it. */
function terminal(isTTY: boolean) {
  let shown = ''
  const stream = new Writable({
    write(chunk, _encoding, done) {
      shown += chunk
      done()
    },
  })
  return Object.assign(stream, {
    isTTY,
    columns: 100,
    shown: () => shown,
  }) as unknown as typeof process.stderr & {
    shown(): string
  }
}

const MIB = 2 ** 20

test('a file of known size shows its share, bytes and rows', () => {
  const screen = terminal(true)
  using progress = startProgress('import', 4 * MIB, screen)
  progress.note('1,000 rows')
  progress.bytes(3 * MIB, 4 * MIB)
  progress[Symbol.dispose]()
  expect(screen.shown()).toMatch(/import \[.*\] 75% {2}3\.0 MiB {2}[\d.]+ MiB\/s .*1,000 rows/)
})

test('an export, whose size is unknown, shows its bytes', () => {
  const screen = terminal(true)
  using progress = startProgress('export', undefined, screen)
  progress.bytes(2 * MIB)
  progress[Symbol.dispose]()
  expect(screen.shown()).toMatch(/export 2\.0 MiB {2}[\d.]+ MiB\/s/)
})

test('nothing is shown where standard error is no terminal', () => {
  const file = terminal(false)
  using progress = startProgress('import', MIB, file)
  progress.bytes(MIB)
  progress[Symbol.dispose]()
  expect(file.shown()).toBe('')
})

test('work that is not measured in bytes shows its notes alone', async () => {
  const screen = terminal(true)
  using progress = startProgress('index fred', null, screen)
  progress.note('1,200 found')
  await expect.poll(() => screen.shown()).toMatch(/index fred {2}1,200 found/)
  expect(screen.shown()).not.toContain('MiB')
})
