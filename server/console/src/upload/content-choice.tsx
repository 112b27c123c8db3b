import { hasDialect } from '../../../../engine/ingest/upload-format.ts'
import { Select } from '../ui/field.tsx'
import type { Reading } from './upload.ts'

const CONTENTS = {
  sheet: { all: 'sheets', label: 'Sheet of the workbook' },
  table: { all: 'tables', label: 'Table of the database' },
  entry: { all: 'entries', label: 'File in the archive' },
} as const

/** Which of the tables in a file is read, where it has several. */
export function ContentChoice({ chosen, readWith }: Reading) {
  const { kind, options, contents, preview } = chosen
  const dialect = hasDialect(kind.format) ? 'auto' : undefined
  return Object.entries(CONTENTS).map(([key, { all, label }]) => {
    const option = key as keyof typeof CONTENTS
    const names = contents[all] ?? []
    if (names.length < 2) return null
    const read = options[option] ?? preview?.[option] ?? (option === 'sheet' ? names[0] : undefined)
    return (
      <Select
        key={option}
        label={label}
        value={read ?? ''}
        options={[...(read === undefined ? [['', 'Choose one'] as const] : []), ...names]}
        onValue={(name) => readWith({ ...(dialect && { dialect }), [option]: name })}
      />
    )
  })
}
