import type { Column, Dataset, DatasetPatch } from '../../../client/index.ts'
import { api } from '../api.ts'
import { ask } from '../ui/form.tsx'
import { announce } from '../ui/toast.tsx'

/** The fields of a patch, in which null stands for an empty text: it removes the field. */
function withNulls(texts: Readonly<Record<string, string>>): Record<string, string | null> {
  return Object.fromEntries(Object.entries(texts).map(([field, text]) => [field, text || null]))
}

/** Saves fields of a dataset, and offers to undo that. */
async function save(id: number, fields: DatasetPatch, before: DatasetPatch) {
  const patch = (now: DatasetPatch) => api().datasets.patch(id, now)
  await patch(fields)
  announce('Saved.', () => patch(before))
}

/** Asks what a dataset is called, and what there is to say about it. */
export function describeDataset(dataset: Dataset): void {
  const { id, name, description, title = '', keywords = [] } = dataset
  const { license = '', source = '', creator = '', citation = '' } = dataset
  ask({
    title: 'Name and description',
    action: 'Save',
    fields: {
      name: { label: 'Name', value: name, required: true, maxLength: 255 },
      title: { label: 'Title', value: title, hint: 'What people call it.' },
      description: { label: 'Description', value: description, lines: 4, hint: 'Markdown.' },
      license: { label: 'Licence', value: license, hint: 'An SPDX id, as CC-BY-4.0, or an address.' },
      source: { label: 'Source', value: source, hint: 'Where the data come from.' },
      creator: { label: 'Creator', value: creator },
      keywords: { label: 'Keywords', value: keywords.join(', '), hint: 'Separated by commas.' },
      citation: { label: 'Citation', value: citation, hint: 'How to cite the data.' },
    },
    onSubmit(values) {
      const words = (text: string) =>
        text
          .split(',')
          .map((word) => word.trim())
          .filter(Boolean)
      const patchOf = ({ name, keywords, ...texts }: typeof values): DatasetPatch => ({
        name,
        keywords: words(keywords),
        ...withNulls(texts),
      })
      const before = { name, title, description, license, source, creator, citation }
      return save(id, patchOf(values), patchOf({ ...before, keywords: keywords.join() }))
    },
  })
}

/** Asks what there is to say about a column. */
export function describeColumn(id: number, column: Column): void {
  const { name, title = '', unit = '', description } = column
  ask({
    title: `Describe ${name}`,
    action: 'Save',
    fields: {
      title: { label: 'Title', value: title, hint: 'What people call it.' },
      unit: { label: 'Unit', value: unit, hint: 'As m, EUR or %.' },
      description: { label: 'Description', value: description, lines: 3 },
    },
    onSubmit(values) {
      const patchOf = (words: typeof values): DatasetPatch => ({ columns: [{ name, ...withNulls(words) }] })
      return save(id, patchOf(values), patchOf({ title, unit, description }))
    },
  })
}
