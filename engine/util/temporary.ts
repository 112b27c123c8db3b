import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

/** A name for a file that is gone when its scope ends, whether or not it was ever made. */
export class TemporaryFile implements AsyncDisposable {
  readonly path: string

  constructor(directory: string) {
    this.path = join(directory, `ingest-${randomUUID()}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { force: true })
  }
}
