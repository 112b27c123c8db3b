/** Of what a file holds, what can be read and what was: sheets of a workbook, files in an archive, tables of a database. */
export interface Contents {
  readonly sheets?: readonly string[] | undefined
  readonly sheet?: string | undefined
  readonly entries?: readonly string[] | undefined
  readonly entry?: string | undefined
  readonly tables?: readonly string[] | undefined
  readonly table?: string | undefined
}

/** Those of them that are known. */
export function contentsOf({ sheets, sheet, entries, entry, tables, table }: Contents): Contents {
  return {
    ...(sheets && { sheets }),
    ...(sheet !== undefined && { sheet }),
    ...(entries && { entries }),
    ...(entry !== undefined && { entry }),
    ...(tables && { tables }),
    ...(table !== undefined && { table }),
  }
}
