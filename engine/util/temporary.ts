import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Paths for temporary files. When their scope ends, those of the files that exist are deleted. */
export class TemporaryFiles implements AsyncDisposable {
  readonly #directory: string
  readonly #files: TemporaryFile[] = []

  constructor(directory: string) {
    this.#directory = directory
  }

  /** A path for one more file. */
  next(): string {
    const file = new TemporaryFile(this.#directory)
    this.#files.push(file)
    return file.path
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const file of this.#files) await file[Symbol.asyncDispose]()
  }
}

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
