import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

/** A path for a temporary file. When its scope ends, the file is deleted if it exists. */
export class TemporaryFile implements AsyncDisposable {
  readonly path: string

  constructor(directory: string) {
    this.path = join(directory, `ingest-${randomUUID()}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { force: true })
  }
}
