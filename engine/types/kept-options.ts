import { fromHttp, type Option, READING } from '../options.ts'
import type { OptionsOf } from './option-values.ts'

/** Whether an option of an earlier upload may hold for one of a format. A tab is what tsv is named for. */
export function holdsFor(format: string, name: string): boolean {
  const { formats }: Option = READING[name as keyof typeof READING] ?? { formats: [] }
  return (!formats || formats.includes(format)) && !(format === 'tsv' && name === 'delimiter')
}

/** How a dataset's last upload was read, as far as it holds for one of a format. @param kept as in a query string */
export function keptFor(
  format: string,
  kept: Readonly<Record<string, string>> = {},
): OptionsOf<typeof READING> {
  const known = Object.entries(fromHttp(kept, READING))
  return Object.fromEntries(known.filter(([name]) => holdsFor(format, name)))
}
