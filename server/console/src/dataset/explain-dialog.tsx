import type { RowsQuery } from '../../../client/index.ts'
import { api, messageOf } from '../api.ts'
import { formatBytes, formatCount, plural } from '../format.ts'
import { href, navigate } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, openDialog } from '../ui/dialog.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { PlainTable } from '../ui/plain-table.tsx'
import { announce } from '../ui/toast.tsx'
import { useResource } from '../use-resource.ts'

/** Opens the page of SQL with the same question. */
export async function showAsSql(id: number, query: RowsQuery): Promise<void> {
  try {
    navigate(href(['sql'], { q: await api().datasets.asSql(id, query) }))
  } catch (error) {
    announce(messageOf(error))
  }
}

/** Shows in a window what is read for a view, and what each step takes. */
export function explainView(id: number, query: RowsQuery): void {
  openDialog((close) => <ExplainDialog {...{ id, query }} onClose={close} />)
}

function ExplainDialog(props: {
  readonly id: number
  readonly query: RowsQuery
  readonly onClose: () => void
}) {
  const { id, query } = props
  const resource = useResource((signal) => api().datasets.explain(id, { ...query, signal }), [id, query])
  return (
    <Dialog title="Why is this slow?" wide onClose={props.onClose}>
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
        <Button onClick={() => showAsSql(id, query)}>Show as SQL</Button>
      </footer>
    </Dialog>
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
