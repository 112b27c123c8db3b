import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FileLock } from '../../engine/store/membership/mark.ts'

function lockPath(): string {
  return join(mkdtempSync(join(tmpdir(), 'parquetry-lock-')), 'a.lock')
}

test('a lock is held by one and free again after its release', () => {
  const file = lockPath()
  const lock = FileLock.acquire(file)
  expect(lock).toBeDefined()
  expect(FileLock.acquire(file)).toBeUndefined()
  lock!.release()
  expect(existsSync(file)).toBe(false)
  FileLock.acquire(file)!.release()
})

test('a lock whose file can not be removed is free, and hides no fault that was met before', () => {
  const file = lockPath()
  const meet = () => {
    using _ = FileLock.acquire(file)
    rmSync(file)
    mkdirSync(file)
    throw new Error('met before')
  }
  expect(meet).toThrow('met before')
})

test('a lock dies with its process, whatever ends it', async () => {
  const file = lockPath()
  const program = `
    import { FileLock } from ${JSON.stringify(join(import.meta.dirname, '../../engine/store/membership/mark.ts'))}
    globalThis.lock = FileLock.acquire(${JSON.stringify(file)})
    console.log('held')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  expect(FileLock.acquire(file)).toBeUndefined()
  child.kill('SIGKILL')
  await once(child, 'exit')
  const lock = FileLock.acquire(file)
  expect(lock).toBeDefined()
  lock!.release()
})
