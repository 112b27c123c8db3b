import type { Page } from 'playwright-core'

/** Days at three stations, with a name that needs quotes and numbers that are missing. */
export const STATIONS = [
  'day,station,"Rain (mm)",temperature,sunny',
  ...Array.from({ length: 400 }, (_, at) => {
    const day = new Date(Date.UTC(2024, 0, 1 + at)).toISOString().slice(0, 10)
    const station = ['Oslo', 'Bergen', "Hell, i'm"][at % 3]!
    return `${day},"${station}",${at % 7 === 0 ? '' : at % 11},${(at % 40) / 2 - 5},${at % 2 === 0}`
  }),
  '',
].join('\n')

/** The lines below the header. */
export function rowsOf(csv: string): string[] {
  return csv.trim().split('\n').slice(1)
}

/** Drops a file as a pointer would: the events that a browser sends, with the file in them. */
export async function drop(page: Page, selector: string, name: string, text: string): Promise<void> {
  await page.evaluate(
    ({ selector, name, text }) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([text], name, { type: 'text/csv' }))
      const target = document.querySelector(selector)!
      for (const type of ['dragenter', 'dragover', 'drop']) {
        target.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }))
      }
    },
    { selector, name, text },
  )
}
