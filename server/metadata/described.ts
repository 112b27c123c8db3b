import type { Column, Dataset } from '../records/index.ts'

/** A dataset to be described to other programs. */
export interface Described {
  readonly record: Dataset
  /** Where it is, without a slash at the end. */
  readonly url: string
}

export const isUrl = (text: string) => /^https?:\/\//.test(text)

/** The address of the license: SPDX has a page for each id. */
export function licenseUrl(license: string): string {
  return isUrl(license) ? license : `https://spdx.org/licenses/${encodeURIComponent(license)}.html`
}

/** The address of the rows of the version that the record is of. */
export function rowsUrl({ record, url }: Described, format: string): string {
  return `${url}/data?$format=${format}&$version=${record.version}`
}

/** The fields whose value is set. */
export function setFields<T extends object>(fields: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''),
  ) as never
}

/** A column's description with its unit, for formats that have no field for units. */
export function described({ description, unit }: Column): string | undefined {
  const text = [description, unit && `Unit: ${unit}`].filter(Boolean).join(' ')
  return text === '' ? undefined : text
}
