import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { Ingestor } from '../../engine/ingest/ingestor.ts'
import { ReaderPool } from '../../engine/ingest/process/reader-pool.ts'
import { useBench } from './support/helper.ts'
import { timeOutOfRange } from './support/hostile.ts'

const bench = useBench()
const ENGINE = new URL('../../engine/ingest/ingestor.ts', import.meta.url).href
const limits = { unpackedBytes: 1 << 30 }

/** An ingestor of a test's own, and what it tells. */
function opened(options: { memory?: number; env?: Record<string, string> } = {}) {
  const ends: string[] = []
  const ingestor = new Ingestor({
    tempDirectory: bench.temporary,
    folders: [bench.folder],
    onEnd: (message) => ends.push(message),
    ...options,
  })
  ingestor.warm()
  return { ingestor, ends, [Symbol.asyncDispose]: () => ingestor.close() }
}

const csvOf = (rows: number) => `n,x\n${Array.from({ length: rows }, (_, n) => `${n},${n / 7}\n`).join('')}`

async function gone(pid: number): Promise<void> {
  for (let wait = 0; wait < 400; wait++) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await delay(25)
  }
  throw new Error(`process ${pid} is still there`)
}

describe('a reader that dies', () => {
  test.each([
    true,
    false,
  ])('of a time out of range (statistics: %s) costs its own upload alone', async (statistics) => {
    await using own = opened()
    const file = bench.file(await timeOutOfRange(bench, statistics))
    const other = bench.file(csvOf(300_000))
    const target = bench.path('.parquet')
    const meanwhile = own.ingestor.jobs.ingest({ format: 'csv', file: other, target, limits })
    const hostile = own.ingestor.jobs.ingest({
      format: 'parquet',
      file,
      target: bench.path('.parquet'),
      limits,
    })
    await expect(hostile).rejects.toMatchObject({ code: 'invalid_upload' })
    await expect(meanwhile).resolves.toMatchObject({ rows: 300_000 })
    const again = { format: 'csv' as const, file: bench.file('a\n1\n'), target: bench.path(), limits }
    await expect(own.ingestor.jobs.ingest(again)).resolves.toMatchObject({ rows: 1 })
  })

  test.each(['SIGSEGV', 'SIGABRT', 'SIGBUS'] as const)('by %s is told of, and replaced', async (signal) => {
    await using own = opened()
    const file = bench.file(csvOf(3_000_000))
    const target = bench.path('.parquet')
    const { pid } = own.ingestor.readers[0]!
    const reading = own.ingestor.jobs.ingest({ format: 'csv', file, target, limits })
    setTimeout(() => process.kill(pid!, signal), 100)
    await expect(reading).rejects.toMatchObject({
      code: 'invalid_upload',
      message: expect.stringContaining('makes its reader crash'),
    })
    expect(existsSync(target)).toBe(false)
    expect(own.ends).toEqual([expect.stringContaining(`was reading the csv upload ${file} ended: ${signal}`)])
    expect(readdirSync(bench.temporary).filter((name) => name.startsWith('reader-')).length).toBeLessThan(4)
    const part = await own.ingestor.jobs.ingest({ format: 'csv', file: bench.file('a\n1\n'), target, limits })
    expect(part.rows).toBe(1)
  })

  test('because the system ended it asks to try again', async () => {
    await using own = opened()
    const { pid } = own.ingestor.readers[0]!
    const read = () =>
      own.ingestor.jobs.ingest({
        format: 'csv',
        file: bench.file(csvOf(3)),
        target: bench.path('.parquet'),
        limits,
      })
    await read()
    // It can't finish what it is given while it is stopped.
    process.kill(pid!, 'SIGSTOP')
    const reading = read()
    process.kill(pid!, 'SIGKILL')
    await expect(reading).rejects.toMatchObject({ code: 'overloaded' })
    expect(own.ends).toEqual([expect.stringContaining('SIGKILL')])
  })

  test('over its memory is ended, and its upload is too large', async () => {
    // Less than Node alone needs.
    await using own = opened({ memory: 30 * 2 ** 20 })
    const file = bench.file(csvOf(3_000_000))
    const reading = own.ingestor.jobs.ingest({ format: 'csv', file, target: bench.path('.parquet'), limits })
    await expect(reading).rejects.toMatchObject({
      code: 'upload_too_large',
      message: 'The upload needs more memory than one upload may take.',
    })
    // Processes that wait for an upload have too much memory as well, and may be seen first.
    expect(own.ends).toContainEqual(expect.stringContaining('csv upload'))
    for (const end of own.ends) expect(end).toContain('limit: memory')
  })
})

test('a reader that has read a large upload reads the next one, too', async () => {
  await using own = opened()
  const { pid } = own.ingestor.readers[0]!
  for (const rows of [3_000_000, 1]) {
    const upload = { format: 'csv' as const, file: bench.file(csvOf(rows)), target: bench.path('.parquet') }
    await expect(own.ingestor.jobs.ingest({ ...upload, limits })).resolves.toMatchObject({ rows })
    expect(own.ingestor.readers.map((reader) => reader.pid)).toEqual([pid])
  }
})

test('the CPU time that an upload may take is no limit for later jobs of its reader', async () => {
  const pool = new ReaderPool({ tempDirectory: bench.temporary, folders: [bench.folder] })
  try {
    const read = (file: string) => {
      const lent = pool.lend(file)
      const job = { format: 'csv' as const, file, target: bench.path('.parquet'), limits }
      return { lent, run: () => lent.process.run('ingest', job, {}) }
    }
    const small = read(bench.file('a\n1\n'))
    small.lent.process.allowCpu(60)
    await small.run()
    const { pid } = small.lent.process
    small.lent.process.allowCpu(0)
    small.lent[Symbol.dispose]()
    const large = read(bench.file(csvOf(3_000_000)))
    expect(large.lent.process.pid).toBe(pid)
    await expect(large.run()).resolves.toMatchObject({ rows: 3_000_000 })
  } finally {
    await pool.close()
  }
})

test('a reader that was killed gets no further job, even if its end is not yet known', async () => {
  const pool = new ReaderPool({ tempDirectory: bench.temporary, folders: [bench.folder] })
  try {
    const file = bench.file('a\n1\n')
    const job = { format: 'csv' as const, file, target: bench.path('.parquet'), limits }
    const killed = pool.lend(file)
    await killed.process.run('ingest', job, {})
    killed.process.kill()
    killed[Symbol.dispose]()
    using other = pool.lend(file)
    await expect(other.process.run('ingest', job, {})).resolves.toMatchObject({ rows: 1 })
  } finally {
    await pool.close()
  }
})

describe.runIf(process.platform === 'linux')('a reader', () => {
  test('has no secrets in its environment, and a limit of its data', async () => {
    process.env['PARQUETRY_SECRET'] = 'not for strangers'
    try {
      await using own = opened()
      const file = bench.file('a\n1\n')
      await own.ingestor.jobs.ingest({ format: 'csv', file, target: bench.path('.parquet'), limits })
      const { pid } = own.ingestor.readers[0]!
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toContain('PATH=')
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('strangers')
      expect(readFileSync(`/proc/${pid}/limits`, 'utf8')).toMatch(/Max data size +\d+/)
    } finally {
      delete process.env['PARQUETRY_SECRET']
    }
  })

  test('ignores the signals of a terminal, and goes with its parent', async () => {
    const { child, pid } = await parent()
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal)
    await delay(100)
    process.kill(pid, 0)
    child.kill('SIGKILL')
    await gone(pid)
  })

  test('goes with its parent in the middle of an upload', async () => {
    const file = bench.file(csvOf(3_000_000))
    const { child, pid } = await parent(file)
    child.kill('SIGKILL')
    await gone(pid)
  })

  test('does not keep a program open that forgets to close', async () => {
    const { child } = await parent(undefined, false)
    const [code] = await once(child, 'exit')
    expect(code).toBe(0)
  })
})

/** A program given to `node --eval` that ingests, tells the reader's process, and stays or ends. */
async function parent(file?: string, stays = true) {
  const first = JSON.stringify(bench.file('a\n1\n'))
  const code = `
    import { Ingestor } from ${JSON.stringify(ENGINE)}
    const ingestor = new Ingestor({ tempDirectory: ${JSON.stringify(bench.folder)} })
    const limits = { unpackedBytes: 1e9 }
    await ingestor.jobs.ingest({ format: 'csv', file: ${first}, target: ${JSON.stringify(bench.path('.pq'))}, limits })
    console.log(ingestor.readers[0].pid)
    ${stays ? 'setInterval(() => {}, 1000)' : ''}
    ${file ? `ingestor.jobs.ingest({ format: 'csv', file: ${JSON.stringify(file)}, target: ${JSON.stringify(bench.path('.pq'))}, limits })` : ''}`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout!, 'data')) as [Buffer]
  return { child, pid: Number(line.toString()) }
}
