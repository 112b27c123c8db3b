import type { UploadOptions } from '../request.ts'

/** The names of columns according to a header of which some names may be missing or occur twice. */
export function namesOfColumns(header: readonly string[], { names }: UploadOptions = {}): readonly string[] {
  if (names === 'index') return header.map((name, at) => (at === 0 && name === '' ? 'index' : name))
  return names === 'number' ? numbered(header) : header
}

/** Whether a header can be used only with numbers in it. */
export function needsNumbers(header: readonly string[]): boolean {
  return header.includes('') || new Set(header).size < header.length
}

/** `a,,a` becomes `a,column_2,a_2`. */
function numbered(header: readonly string[]): readonly string[] {
  const taken = new Set(header)
  const seen = new Set<string>()
  return header.map((name, at) => {
    const plain = name === '' ? `column_${at + 1}` : name
    if (name !== '' && !seen.has(name)) {
      seen.add(name)
      return name
    }
    let unique = plain
    for (let n = 2; taken.has(unique); n++) unique = `${plain}_${n}`
    taken.add(unique)
    return unique
  })
}
