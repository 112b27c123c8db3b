/** Of what a file holds, what can be read and what was: sheets of a workbook, files in an archive. */
export interface Contents {
  readonly sheets?: readonly string[] | undefined
  readonly sheet?: string | undefined
  readonly entries?: readonly string[] | undefined
  readonly entry?: string | undefined
}

/** Those of them that are known. */
export function contentsOf({ sheets, sheet, entries, entry }: Contents): Contents {
  return {
    ...(sheets && { sheets }),
    ...(sheet !== undefined && { sheet }),
    ...(entries && { entries }),
    ...(entry !== undefined && { entry }),
  }
}
