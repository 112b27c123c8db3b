import type { Dataset, Format, RowsQuery } from '../../../client/index.ts'
import { api } from '../api.ts'
import { saveBlob } from '../ui/save.ts'

/**
 * Starts a browser download, which shows the progress, can be cancelled, and keeps nothing in memory. Browsers can't
 * send the key with a download, so it uses a link that works for some minutes without one. Errors are checked for
 * beforehand, because in a download they would appear as a broken file.
 *
 * @throws ParquetryError if the server refuses the query
 */
export async function startDownload(datasetId: number, query: RowsQuery, format: Format): Promise<void> {
  const { url } = await api().datasets.link(datasetId, format, query)
  const head = await fetch(url, { method: 'HEAD', credentials: 'omit', cache: 'no-store' })
  if (!head.ok) {
    // Responses to HEAD have no body, so the same query is sent with GET to get the error message.
    await (await api().datasets.download(datasetId, format, query)).cancel()
  }
  const link = document.createElement('a')
  link.href = url.href
  link.download = ''
  link.click()
}

/**
 * Saves a small file that opens the dataset in an office program: `pbids` in Power BI, `odc` in Excel.
 *
 * @throws ParquetryError if the server refuses
 */
export async function saveConnectionFile(dataset: Dataset, kind: 'pbids' | 'odc'): Promise<void> {
  const text = await api().datasets.connectionFile(dataset.id, kind)
  saveBlob(new Blob([text]), `${dataset.name}.${kind}`)
}
