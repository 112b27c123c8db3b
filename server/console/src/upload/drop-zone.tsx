import { useRef, useState } from 'preact/hooks'
import { formatBytes } from '../format.ts'
import { Icon } from '../ui/icons.tsx'
import { ACCEPT } from './formats.ts'

/** A zone to drop a file on, or to choose one with click or keyboard. */
export function DropZone(props: { readonly file: File | undefined; readonly onFile: (file: File) => void }) {
  const [over, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  return (
    <label
      class={`drop ${over ? 'is-over' : ''} ${props.file ? 'is-full' : ''}`}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        const file = event.dataTransfer?.files[0]
        if (file) props.onFile(file)
      }}
    >
      <Icon name="upload" />
      {props.file ? (
        <span class="drop-words">
          <strong>{props.file.name}</strong>
          <span>{formatBytes(props.file.size)} · choose another</span>
        </span>
      ) : (
        <span class="drop-words">
          <strong>Drop a file here, or choose one</strong>
          <span>csv, tsv, json, ndjson, parquet, arrow, xlsx; text formats also as .gz</span>
        </span>
      )}
      <input
        ref={input}
        class="visually-hidden"
        type="file"
        accept={ACCEPT}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0]
          if (file) props.onFile(file)
          // Lets the user choose the same file again, for example after correcting it.
          event.currentTarget.value = ''
        }}
      />
    </label>
  )
}
