import type { RowsQuery } from '../../../client/index.ts'
import { api } from '../api.ts'
import { formatBytes, formatCount, plural } from '../format.ts'
import { href, navigate } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { openDialog } from '../ui/dialog.tsx'
import { PlainTable } from '../ui/plain-table.tsx'
import { Loaded, useResource } from '../ui/resource.tsx'
import { complain } from '../ui/toast.tsx'

/** Opens the page of SQL with the same question. */
export function showAsSql(id: number, query: RowsQuery): Promise<void> {
  return api()
    .datasets.asSql(id, query)
    .then((q) => navigate(href(['sql'], { q })))
    .catch(complain)
}

/** Shows in a window what is read for a view, and what each step takes. */
export function explainView(id: number, query: RowsQuery): void {
  openDialog('Why is this slow?', () => <Explanation {...{ id, query }} />, { wide: true })
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
