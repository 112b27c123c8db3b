import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import {
  type Dataset,
  type DeclaredColumn,
  type Engine,
  type EngineOptions,
  openEngine,
} from '../../engine/index.ts'

/** An engine over a folder of its own; both are gone when it is disposed. */
export async function openWorkplace(
  options: Partial<EngineOptions> = {},
): Promise<AsyncDisposable & { engine: Engine; directory: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'parquetry-test-'))
  const engine = await openEngine({ directory: join(directory, 'data'), threads: 2, ...options })
  return {
    engine,
    directory,
    async [Symbol.asyncDispose]() {
      await engine.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** A workplace for all tests of a file, because an engine starts processes for its first upload. */
export function useWorkplace(): { readonly engine: Engine; readonly directory: string } {
  let place: Awaited<ReturnType<typeof openWorkplace>>
  beforeAll(async () => {
    place = await openWorkplace()
  })
  afterAll(() => place[Symbol.asyncDispose]())
  return {
    get engine() {
      return place.engine
    },
    get directory() {
      return place.directory
    },
  }
}

let made = 0

export async function newDataset(engine: Engine, columns?: readonly DeclaredColumn[]): Promise<Dataset> {
  const repository = (await engine.repositories())[0] ?? (await engine.createRepository({ name: 'test' }))
  made += 1
  return await engine.dataset(
    (await engine.createDataset({ repositoryId: repository.id, name: `dataset ${made}`, columns })).id,
  )
}

export async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

export async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
