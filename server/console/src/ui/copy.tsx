import { Button } from './button.tsx'
import { announce } from './toast.tsx'

/** Copies text to the clipboard, also on plain http, where the Clipboard API isn't available. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    document.querySelector('dialog[open]')?.append(area) ?? document.body.append(area)
    area.select()
    document.execCommand('copy')
    area.remove()
  }
  announce(`${what} copied.`)
}

export function CopyButton(props: { readonly text: string; readonly what: string }) {
  return <Button icon="copy" look="small" to={() => copyText(props.text, props.what)} says="Copy" />
}

export function saveBlob(blob: Blob, fileName: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = fileName
  link.click()
  // The browser reads the URL after the click has returned.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
