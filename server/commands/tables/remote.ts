import { openAsBlob } from 'node:fs'
import { Readable } from 'node:stream'
import { Client } from '../../client/index.ts'
import { type LineFormat, resumedRows } from './resumed-rows.ts'
import type { Tables, WriteOptions } from './tables.ts'

/** Formats that can be cut between two rows and joined again. */
const LINES = new Set<string>(['csv', 'tsv', 'ndjson'])

/**
 * The tables of a server, over HTTP. Downloads are continued after a broken connection where the format allows that.
 */
export function remoteTables(url: string, key: string): Tables {
  const client = new Client({ url, key })
  const { repositories, datasets, accounts } = client
  return {
    repositories,
    datasets,
    accounts,
    async write(id, mode, file, options) {
      const { from, format, gzip, options: reading } = file
      const counted = new Client({ url, key, fetch: countingFetch(options) })
      // A file can be sent again after a broken connection, but a pipe can't be read a second time.
      const body = 'file' in from ? await openAsBlob(from.file) : from
      const upload = { format, gzip, body, options: reading }
      const { signal, note, on } = options
      return counted.datasets[mode](id, upload, { signal, note, ...(on && { on }) })
    },
    async *sql(text, format, options, signal) {
      yield* await client.sql(text, format, { ...options, signal })
    },
    async *read(id, format, options, signal) {
      if (LINES.has(format)) {
        yield* resumedRows(client, id, format as LineFormat, options, signal)
        return
      }
      yield* await datasets.download(id, format, { ...options, signal })
    },
  }
}

/** A `fetch` that reports how many bytes of a body it has sent. */
function countingFetch({ onProgress }: WriteOptions): typeof fetch {
  return (input, init = {}) => {
    const { body } = init
    if (!(body instanceof Blob)) return fetch(input, init)
    let bytes = 0
    const counted = async function* () {
      for await (const chunk of body.stream()) {
        bytes += chunk.length
        onProgress({ bytes })
        yield chunk
      }
    }
    const stream = Readable.toWeb(Readable.from(counted(), { objectMode: false })) as ReadableStream
    return fetch(input, { ...init, body: stream, duplex: 'half' } as RequestInit)
  }
}
