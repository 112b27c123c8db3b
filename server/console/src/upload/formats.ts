import { allEndings, uploadFormatOf } from '../../../../engine/ingest/upload-format.ts'

export type FileKind = NonNullable<ReturnType<typeof kindOf>>

export const ACCEPT = [...allEndings(), 'txt'].map((ending) => `.${ending}`).join()

/** The format of a file, by its name; undefined for an unknown extension. Tables that people call text are csv. */
export function kindOf(fileName: string) {
  return uploadFormatOf(fileName.replace(/\.txt(?=$|\.gz$)/i, '.csv'))
}

/** Derives a name for a dataset from the name of a file. */
export function datasetName(fileName: string): string {
  return fileName.replace(/\.(?:gz|zst)$/i, '').replace(/\.[a-z]+$/i, '')
}

let handed: File | undefined

/** Keeps a file that was dropped on another page for the page of uploads. */
export function handOver(file: File): void {
  handed = file
}

export function takeOver(): File | undefined {
  const file = handed
  handed = undefined
  return file
}
