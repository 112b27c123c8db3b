import { rmSync } from 'node:fs'
import type { ConnectorEvent } from '../options.ts'
import { SearchIndex } from './search-index.ts'

/** SQLite's CORRUPT and NOTADB (https://sqlite.org/rescode.html). */
const DAMAGED: readonly unknown[] = [11, 26]
/** A database and what SQLite keeps beside it. */
const FILES = ['', '-wal', '-shm']

/**
 * Opens the index in a file. It is a cache, so nobody who asks a provider notices that something is wrong with it: an
 * empty file takes the place of a damaged one, and where there is no place for a file, the index is in memory.
 */
export function openSearchIndex(file: string, log: (event: ConnectorEvent) => void): SearchIndex {
  const tell = (message: string, cause: unknown) => log({ level: 'warn', provider: 'all', message, cause })
  try {
    return openAnew(file, tell)
  } catch (cause) {
    tell(`The search index ${file} can't be opened, so it is in memory until the process ends.`, cause)
    return new SearchIndex(':memory:')
  }
}

function openAnew(file: string, tell: (message: string, cause: unknown) => void): SearchIndex {
  try {
    return new SearchIndex(file)
  } catch (cause) {
    if (!DAMAGED.includes((cause as { errcode?: number }).errcode)) throw cause
    tell(`The search index ${file} is damaged, so it begins anew.`, cause)
    for (const ending of FILES) rmSync(file + ending, { force: true })
    return new SearchIndex(file)
  }
}
