import { useEffect, useRef, useState } from 'preact/hooks'
import { type Dataset, ParquetryError } from '../../../client/index.ts'
import { api, isAbort, messageOf } from '../api.ts'
import { store } from '../dataset/storing.ts'
import { plural } from '../format.ts'
import { href, navigate } from '../router.ts'
import { announce } from '../ui/toast.tsx'
import type { Chosen } from './use-chosen.ts'

/** What to do with existing rows. `columns` replaces rows and columns together. */
export type Mode = 'append' | 'replace' | 'columns'

export interface Commitment {
  /** The repository of a new dataset; undefined if one is to be made, too. */
  readonly repositoryId: number | undefined
  readonly target: Dataset | undefined
  readonly name: string
  readonly mode: Mode
}

/** Sends a file, one at a time. `share` is what has been sent, undefined if nothing is under way. */
export function useSending() {
  const [share, setShare] = useState<number>()
  const [problems, setProblems] = useState<readonly string[]>([])
  const controller = useRef<AbortController>(undefined)
  const cancel = () => controller.current?.abort()
  useEffect(() => cancel, [])
  const send = async (chosen: Chosen, to: Commitment) => {
    controller.current = new AbortController()
    setShare(0)
    setProblems([])
    try {
      const { id, name, rowCount } = await commit(chosen, to, controller.current.signal, setShare)
      const before = to.target?.version
      announce(
        `${name} now has ${plural(rowCount ?? 0, 'row')}.`,
        before === undefined ? undefined : () => api().datasets.restore(id, before),
      )
      navigate(href(['datasets', id]))
    } catch (error) {
      setShare(undefined)
      if (isAbort(error)) return
      const faults = error instanceof ParquetryError ? error.errors : []
      setProblems(faults.length > 0 ? faults.map((fault) => fault.error) : [messageOf(error)])
    }
  }
  return { share, problems, send, cancel }
}

async function commit(
  { file, kind, preview, options, types }: Chosen,
  to: Commitment,
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<Dataset> {
  // Declare types only if the user has changed one; otherwise the server infers them from the whole file.
  const declared = (preview?.columns ?? []).map(({ name, type }) => ({ name, type: types.get(name) ?? type }))
  const columns = types.size > 0 ? { columns: declared } : {}
  const repositoryOf = async () =>
    to.repositoryId ?? (await api().repositories.create({ name: 'My data', private: true })).id
  const target = to.target?.id ?? { name: to.name, repositoryId: await repositoryOf(), ...columns }
  const upload = {
    ...kind,
    body: file,
    options: { ...options, ...(to.mode === 'columns' && { columns: 'replace' as const }) },
  }
  const { datasets } = api(fetchWithProgress(onProgress))
  return store(target, (id) => datasets[to.mode === 'append' ? 'append' : 'replace'](id, upload, { signal }))
}

/**
 * A `fetch` that reports the progress of uploads. It uses XMLHttpRequest, because `fetch` can't report that.
 *
 * @param onProgress share of the bytes sent, 0 to 1; at 1 the server still has to check and store the rows
 */
function fetchWithProgress(onProgress: (share: number) => void): typeof fetch {
  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      request.open(init.method ?? 'GET', String(input))
      new Headers(init.headers).forEach((value, name) => {
        request.setRequestHeader(name, value)
      })
      request.upload.onprogress = (event) => {
        if (event.lengthComputable) onProgress(event.loaded / event.total)
      }
      request.onload = () => resolve(answerOf(request))
      request.onerror = () => reject(new TypeError('The connection broke off.'))
      request.onabort = () => reject(init.signal?.reason)
      init.signal?.addEventListener('abort', () => request.abort())
      request.send(init.body as XMLHttpRequestBodyInit | null)
    })
}

function answerOf(request: XMLHttpRequest): Response {
  const lines = request.getAllResponseHeaders().trim().split('\r\n')
  const headers = lines.map((line) => line.split(/: (.*)/s, 2) as [string, string])
  // Some statuses allow no body, not even an empty one.
  return new Response(request.responseText || null, { status: request.status, headers })
}
