import type { Part, Version } from '../catalog/records.ts'
import { isNumbered } from '../iceberg/index.ts'
import type { TrinoLimits, TrinoTable } from './route.ts'

/** A version as a table of Trino. */
export function versionTable(
  version: Version,
  limits: TrinoLimits,
  fileOf: (part: Part) => string,
  name: () => Promise<string>,
): TrinoTable {
  return {
    limits,
    name,
    bytesOf(scan, columns) {
      if (scan.kind !== 'slices' || !isNumbered(version)) return undefined
      const files = new Set(scan.slices.map(({ file }) => file))
      const positions = columns.map((column) => Number(column.slice(1)))
      let sum = 0
      for (const part of version.parts) {
        if (!files.has(fileOf(part))) continue
        // Of tables of very many columns, the sizes of single columns are not known.
        const sizes = positions.map((position) => part.statistics?.[position]?.bytes)
        sum += sizes.includes(undefined) ? part.bytes : sizes.reduce<number>((all, size) => all + size!, 0)
      }
      return sum
    },
  }
}
