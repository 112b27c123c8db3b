import { statusOfCode, statusOfFlags } from '../../../connectors/observations.ts'
import { frequencyName } from '../../../connectors/periods.ts'
import { meaningOf } from '../../../connectors/sdmx/meanings.ts'
import type { PublishedList } from './lists.ts'

/** A code that would be read otherwise than its provider means it where an answer comes without names. */
export interface UnknownCode {
  readonly code: string
  readonly name: string
  /** What we would say; null for nothing. */
  readonly read: string | null
}

export function unknownCodes(
  { provider, kind }: Pick<PublishedList, 'provider' | 'kind'>,
  codes: Readonly<Record<string, string>>,
): UnknownCode[] {
  return Object.entries(codes).flatMap(([code, name]) => {
    const told = meaningOf(provider, kind, code)
    if (kind === 'frequency') {
      const read = told ?? frequencyName(code)
      const meant = frequencyName(name)
      // Names such as `Event` that are no frequency of ours say nothing against a meaning that we have for the code.
      const agrees = read === meant || (told !== undefined && meant === null)
      return read !== null && agrees ? [] : [{ code, name, read }]
    }
    const isFlag = /^[a-z]$/.test(code)
    const read = told ?? (isFlag ? statusOfFlags(code) : statusOfCode(code))
    const meant = statusOfCode(code.toUpperCase(), name)
    const agrees = read === meant || ((isFlag || told !== undefined) && sharesWord(read ?? '', name))
    return agrees ? [] : [{ code, name, read: read ?? null }]
  })
}

/** Eurostat's names have SDMX's words in other forms: `unreliable` is of low reliability. */
function sharesWord(read: string, name: string): boolean {
  const stems = read.toLowerCase().match(/[a-z]{5}/g) ?? []
  return stems.some((stem) => name.toLowerCase().includes(stem.slice(0, 4)))
}
