import { useState } from 'preact/hooks'
import { formatBytes } from '../format.ts'
import { useEvent } from '../hooks.ts'
import { Icon } from '../ui/icons.tsx'
import { ACCEPT } from './formats.ts'

/** A zone to drop a file on, to choose one with click or keyboard, or to paste cells of a spreadsheet. */
export function DropZone(props: { readonly file: File | undefined; readonly onFile: (file: File) => void }) {
  const { file, onFile } = props
  const [over, setOver] = useState(false)
  useEvent('paste', (event) => {
    if (event.target instanceof HTMLElement && event.target.closest('input, textarea, dialog')) return
    const pasted = pastedFile(event.clipboardData)
    if (!pasted) return
    event.preventDefault()
    onFile(pasted)
  })
  return (
    <label
      class={`drop ${over ? 'is-over' : ''} ${file ? 'is-full' : ''}`}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        const dropped = event.dataTransfer?.files[0]
        if (dropped) onFile(dropped)
      }}
    >
      <Icon name="upload" />
      <span class="drop-words">
        <strong>{file ? file.name : 'Drop a file here, choose one, or paste cells from Excel'}</strong>
        <span>
          {file
            ? `${formatBytes(file.size)} · choose another`
            : 'csv, json, Excel, Parquet, Arrow, ods, SPSS, SQLite and more; also as .gz, .zst or .zip'}
        </span>
      </span>
      <input
        class="visually-hidden"
        type="file"
        accept={ACCEPT}
        onChange={(event) => {
          const chosen = event.currentTarget.files?.[0]
          if (chosen) onFile(chosen)
          // Lets the user choose the same file again, for example after correcting it.
          event.currentTarget.value = ''
        }}
      />
    </label>
  )
}

/** What was pasted as a file: spreadsheets put cells on the clipboard as text with tabs. */
function pastedFile(data: DataTransfer | null): File | undefined {
  const text = data?.getData('text/plain') ?? ''
  if (text.trim() === '') return data?.files[0]
  return new File([text], text.includes('\t') ? 'pasted.tsv' : 'pasted.csv')
}
