import { endingOf } from '../../../../engine/types/index.ts'
import type { Column, Dataset, DatasetPatch, Format, RowsQuery } from '../../../client/index.ts'
import { api } from '../api.ts'
import { formatBytes, formatCount, plural } from '../format.ts'
import { href, navigate } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { copyText } from '../ui/copy.tsx'
import { openDialog } from '../ui/dialog.tsx'
import { ask } from '../ui/form.tsx'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { PlainTable } from '../ui/plain-table.tsx'
import { Loaded, useResource } from '../ui/resource.tsx'
import { announce, complain } from '../ui/toast.tsx'
import { viewQuery } from '../view/view.ts'
import type { Exploration } from './exploration.ts'
import { follow, refresh } from './following.ts'

export function DatasetActions(exploration: Exploration) {
  const { dataset, view, rows, canAdd } = exploration
  return (
    <>
      {canAdd && (
        <Button
          icon="upload"
          to={href(['repositories', dataset.repositoryId, 'upload'], { dataset: String(dataset.id) })}
          says="Add rows"
        />
      )}
      <Button
        icon="link"
        label="Copy the link to this view"
        to={() => copyText(location.href, 'The link to this view is')}
      />
      <Button
        icon="download"
        look="primary"
        disabled={dataset.rowCount === 0 || !view}
        to={() => download(dataset, viewQuery(view!), rows.windows?.rowCount)}
        says="Download"
      />
      <Menu label="More" items={itemsOf(exploration)} />
    </>
  )
}

function itemsOf({ dataset, source, view, canWrite }: Exploration): readonly (MenuItem | false)[] {
  const { id, name } = dataset
  const unfollow = () =>
    ask({
      title: 'Stop following?',
      text: 'The rows stay as they are, and are no longer brought up to date.',
      action: 'Stop following',
      danger: true,
      onSubmit: () => api().datasets.unfollow(id),
    })
  const remove = () =>
    ask({
      title: `Delete ${name}?`,
      text: "All of its rows and versions will be deleted, for everybody. This can't be undone.",
      action: 'Delete the dataset',
      danger: true,
      async onSubmit() {
        await api().datasets.delete(id)
        announce(`${name} is deleted.`)
        navigate(href(['repositories', dataset.repositoryId]))
      },
    })
  // The schedule of a stored query is part of the query.
  const canFollow = !dataset.isSaved && !source?.query
  const query = view && viewQuery(view)
  return [
    query !== undefined && { icon: 'search', says: 'Why is this slow?', to: () => explainView(id, query) },
    query !== undefined && { icon: 'code', says: 'Show as SQL', to: () => showAsSql(id, query) },
    canWrite && { icon: 'edit', says: 'Name and description', to: () => describeDataset(dataset) },
    canWrite &&
      canFollow &&
      source !== undefined && { icon: 'clock', says: 'Refresh now', to: () => refresh(id, source) },
    canWrite &&
      canFollow && {
        icon: 'globe',
        says: source ? 'Change what it follows' : 'Follow series or a file…',
        to: () => follow(id, source),
      },
    canWrite && source !== undefined && { icon: 'close', says: 'Stop following', to: unfollow },
    canWrite && { icon: 'trash', says: 'Delete the dataset', danger: true, to: remove },
  ]
}

const CHOICES = [
  { value: 'csv', label: 'CSV', note: 'for everything that reads tables' },
  { value: 'european', label: 'CSV, European', note: 'semicolons and decimal commas, opens in Excel' },
  { value: 'xlsx', label: 'Excel', note: 'typed cells, several sheets past 1,048,575 rows' },
  { value: 'parquet', label: 'Parquet', note: 'small, typed; for pandas, R, DuckDB, Spark' },
  { value: 'json', label: 'JSON', note: 'an array of objects' },
  { value: 'ndjson', label: 'NDJSON', note: 'one object on each line' },
  { value: 'tsv', label: 'TSV', note: 'tabs between the fields' },
  { value: 'arrow', label: 'Arrow', note: 'a stream of record batches' },
  { value: 'arrow-file', label: 'Arrow file', note: 'for programs that map it into memory' },
] as const satisfies readonly { value: Format | 'european'; label: string; note: string }[]

/** How spreadsheets in most of Europe write and read csv. */
const EUROPEAN = { bom: true, delimiter: ';', decimal: ',' } as const

/** Asks for a format, and downloads the rows of a query in it. */
function download({ id, name }: Dataset, query: RowsQuery, rowCount: number | undefined): void {
  const parts = [
    rowCount === undefined ? 'The rows' : plural(rowCount, 'row'),
    (query.filter || query.search) && 'as filtered',
    query.apply && 'as grouped and summed',
    query.orderBy && 'in the order that you see',
  ]
  ask({
    title: `Download ${name}`,
    text: `${parts.filter(Boolean).join(', ')}.`,
    action: 'Download',
    busyAction: 'Asking…',
    onlyReads: true,
    fields: {
      choice: {
        label: 'Format',
        value: 'csv' as (typeof CHOICES)[number]['value'],
        options: CHOICES,
      },
    },
    async onSubmit({ choice }) {
      const european = choice === 'european'
      const format = european ? 'csv' : choice
      await startDownload(id, european ? { ...query, ...EUROPEAN } : query, format)
      announce(`Your browser downloads ${name}.${endingOf(format)}.`)
    },
  })
}

/**
 * Starts a browser download, which shows the progress, can be cancelled, and keeps nothing in memory. Browsers can't
 * send the key with a download, so it uses a link that works for some minutes without one. Errors are checked for
 * beforehand, because in a download they would appear as a broken file.
 *
 * @throws ParquetryError if the server refuses the query
 */
async function startDownload(datasetId: number, query: RowsQuery, format: Format): Promise<void> {
  const { url } = await api().datasets.link(datasetId, format, query)
  // Without it, browsers get a page about the rows.
  url.search += '&download=true'
  const head = await fetch(url, { method: 'HEAD', credentials: 'omit', cache: 'no-store' })
  if (!head.ok) {
    // Responses to HEAD have no body, so the same query is sent with GET to get the error message.
    await (await api().datasets.download(datasetId, format, query)).cancel()
  }
  const link = document.createElement('a')
  link.href = url.href
  link.download = ''
  link.click()
}

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
function describeDataset(dataset: Dataset): void {
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
      const fields = (text: string) =>
        text
          .split(',')
          .map((word) => word.trim())
          .filter(Boolean)
      const patchOf = ({ name, keywords, ...texts }: typeof values): DatasetPatch => ({
        name,
        keywords: fields(keywords),
        ...withNulls(texts),
      })
      const before = { name, title, description, license, source, creator, citation }
      return save(id, patchOf(values), patchOf({ ...before, keywords: keywords.join() }))
    },
  })
}

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
      const patchOf = (fields: typeof values): DatasetPatch => ({ columns: [{ name, ...withNulls(fields) }] })
      return save(id, patchOf(values), patchOf({ title, unit, description }))
    },
  })
}

/** Opens the page of SQL with the same question. */
export function showAsSql(id: number, query: RowsQuery): Promise<void> {
  return api()
    .datasets.asSql(id, query)
    .then((q) => navigate(href(['sql'], { q })))
    .catch(complain)
}

/** Shows in a window what is read for a view, and what each step takes. */
function explainView(id: number, query: RowsQuery): void {
  const content = () => <Explanation {...{ id, query }} />
  openDialog({ title: 'Why is this slow?', wide: true, content })
}

function Explanation({ id, query }: { readonly id: number; readonly query: RowsQuery }) {
  const resource = useResource((signal) => api().datasets.explain(id, { ...query, signal }), [id, query])
  return (
    <>
      <div class="dialog-body">
        <Loaded of={resource} label="Running the query">
          {({ verdict, where, parts, rowGroups, ms, bytesRead, steps }) => (
            <>
              <p>{verdict}</p>
              <p class="hint">
                {where} {formatMs(ms)}
                {bytesRead !== undefined && `, ${formatBytes(bytesRead)} read`}
                {parts && ` of ${formatCount(parts.read)} of ${plural(parts.of, 'part')}`}
                {rowGroups && `, ${formatCount(rowGroups.read)} of ${plural(rowGroups.of, 'row group')}`}.
              </p>
              {steps.length > 0 && (
                <PlainTable
                  label="Steps, from the result down to the reading"
                  head={['Step', 'Rows', 'Time', 'Details']}
                  right={(column) => column === 1 || column === 2}
                  rows={steps.map((step) => [
                    '\u2003'.repeat(step.depth) + step.name.replaceAll('_', ' ').toLowerCase(),
                    formatCount(step.rows),
                    formatMs(step.ms),
                    detailsText(step.details),
                  ])}
                />
              )}
              <p class="hint">Times of steps are those of all threads together.</p>
            </>
          )}
        </Loaded>
      </div>
      <footer class="dialog-foot">
        <Button to={() => showAsSql(id, query)} says="Show as SQL" />
      </footer>
    </>
  )
}

function formatMs(ms: number): string {
  return ms < 10
    ? `${ms.toFixed(1)} ms`
    : ms < 10_000
      ? `${formatCount(Math.round(ms))} ms`
      : `${formatCount(Math.round(ms / 1_000))} s`
}

/** What a step does; its filters come first. */
function detailsText(details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details)
    .filter(([name]) => name !== 'Estimated Cardinality' && name !== 'Function')
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : value}`)
    .join('; ')
}
