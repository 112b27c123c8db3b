import type { Dataset, Format, Question } from '../../../client/index.ts'
import { api } from '../api.ts'

/**
 * Has the browser download rows into a file: it shows the progress, keeps nothing in memory, and is where the download
 * is stopped. A browser can't send the key with a download, so it follows a link that opens for some minutes without
 * one. What would be refused is found out before, since a refusal would come as a broken download.
 *
 * @throws ParquetryError when the service refuses
 */
export async function startDownload(datasetId: number, question: Question, format: Format): Promise<void> {
  const { url } = await api().datasets.link(datasetId, format, question)
  const head = await fetch(url, { method: 'HEAD', credentials: 'omit', cache: 'no-store' })
  if (!head.ok) {
    // An answer to HEAD has no sentence. The same question with the key has one.
    await (await api().datasets.download(datasetId, format, question)).cancel()
  }
  const link = document.createElement('a')
  link.href = url.href
  link.download = ''
  link.click()
}

/**
 * Saves a small file that opens an office program at the dataset: `pbids` Power BI, `odc` Excel.
 *
 * @throws ParquetryError when the service refuses
 */
export async function saveConnectionFile(dataset: Dataset, kind: 'pbids' | 'odc'): Promise<void> {
  const text = await api().datasets.connectionFile(dataset.id, kind)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text]))
  link.download = `${dataset.name}.${kind}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
