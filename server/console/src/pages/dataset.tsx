import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Dataset } from '../../../client/index.ts'
import { api, isStatus } from '../api.ts'
import { DatasetActions } from '../dataset/actions.tsx'
import { SourceBox } from '../dataset/source-box.tsx'
import { TableView } from '../dataset/table-view.tsx'
import { Toolbar } from '../dataset/toolbar.tsx'
import { useProfile } from '../dataset/use-profile.ts'
import { useSeenValues } from '../dataset/use-seen-values.ts'
import { useSource } from '../dataset/use-source.ts'
import { exampleFilter } from '../filter/example.ts'
import { FilterBar } from '../filter/filter-bar.tsx'
import { FilterBuilder } from '../filter/filter-builder.tsx'
import { formatAge, formatBytes, formatCount, plural } from '../format.ts'
import { ApplyBar } from '../group/apply-bar.tsx'
import { GroupBuilder } from '../group/group-builder.tsx'
import { ApplyRefused, useResultColumns } from '../group/result.ts'
import { ColumnsView } from '../profile/columns-view.tsx'
import { type Address, href, updateQuery } from '../router.ts'
import { Empty, Failure, Loading } from '../ui/feedback.tsx'
import { Lazy } from '../ui/lazy.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { latest, useResource } from '../use-resource.ts'
import { ColumnChooser } from '../view/column-chooser.tsx'
import { formatOrder, type Order, parseOrder } from '../view/order.ts'
import { readShown, writeShown } from '../view/shown-columns.ts'
import { useRows } from '../view/use-rows.ts'
import type { View } from '../view/view.ts'

const loadPlot = () => import('../plot/plot-view.tsx').then((module) => module.PlotView)
const loadResultPlot = () => import('../plot/result-plot.tsx').then((module) => module.ResultPlot)

export type DatasetTab = 'table' | 'columns' | 'plot'

/** A dataset: its rows, columns and plot, with one filter for all three. */
export function DatasetPage(props: { readonly id: number; readonly address: Address }) {
  const [resource, again] = useResource((signal) => api().datasets.get(props.id, { signal }), [props.id])
  const dataset = latest(resource)
  if (!dataset) {
    if (resource.state === 'failed') return <Missing error={resource.error} onRetry={again} />
    return <Loading page label="Loading the dataset" lines={8} />
  }
  return <DatasetView dataset={dataset} query={props.address.query} onChanged={again} />
}

function DatasetView(props: {
  readonly dataset: Dataset
  readonly query: Address['query']
  readonly onChanged: () => void
}) {
  const { dataset, query } = props
  const filter = query['filter'] ?? ''
  const order = useMemo(() => parseOrder(query['orderby'] ?? ''), [query['orderby']])
  const apply = query['apply'] ?? ''
  // Results of `$apply` have no profile, because their columns are few and calculated.
  const tab = apply !== '' && tabOf(query['view']) === 'columns' ? 'table' : tabOf(query['view'])
  const [building, setBuilding] = useState(false)
  const [choosing, setChoosing] = useState(false)
  const [goTo, setGoTo] = useState<{ readonly column: string }>()
  const [grouping, setGrouping] = useState(apply !== '')
  const { columns, resource: result } = useResultColumns(dataset, filter, apply)
  const view = useMemo((): View | undefined => {
    return columns && { filter, apply, order, columns, shown: readShown(query['columns'], columns) }
  }, [filter, apply, order, columns, query['columns']])
  const [repository] = useResource(
    (signal) => api().repositories.get(dataset.repositoryId, { signal }),
    [dataset.repositoryId],
  )
  const home = latest(repository)
  const canWrite = home?.permission === 'Write'
  const source = useSource(dataset)

  const found = useRows(dataset, view)
  const refused = result.state === 'failed' ? result.error : undefined
  const rows =
    refused === undefined ? found : { ...found, windows: undefined, rowCount: undefined, error: refused }
  const isEmpty = dataset.rowCount === 0
  const profile = useProfile(
    dataset,
    filter,
    !isEmpty && !rows.pending && rows.error === undefined && rows.rowCount !== undefined,
  )
  const stats = profile.state === 'ready' ? profile.stats : undefined
  const valuesOf = useSeenValues(profile)

  const setFilter = (next: string) => updateQuery({ filter: next }, true)
  // The result has other columns, so choices about the old ones are dropped.
  const setApply = (next: string) =>
    updateQuery({ apply: next, orderby: '', columns: '', x: '', y: '', kind: '', of: '' }, true)
  const setOrder = (next: Order | undefined) => updateQuery({ orderby: next ? formatOrder(next) : '' })
  useEffect(() => {
    document.title = `${dataset.name} · Parquetry`
  }, [dataset.name])

  return (
    <div class="page page-full">
      <PageHead
        trail={[
          { label: 'Data', href: href([]) },
          { label: home?.name ?? '…', href: href(['repositories', dataset.repositoryId]) },
        ]}
        title={dataset.name}
        actions={
          <DatasetActions
            dataset={dataset}
            canWrite={canWrite}
            takesRows={source.takesRows}
            view={view}
            rowCount={rows.rowCount}
            onChanged={props.onChanged}
          />
        }
      >
        {dataset.description && <p class="lede">{dataset.description}</p>}
        <ul class="facts">
          <li>{plural(dataset.rowCount, 'row')}</li>
          <li>{plural(dataset.columns.length, 'column')}</li>
          <li>{formatBytes(dataset.bytes)} stored</li>
          <li>version {dataset.version}</li>
          <li>changed {formatAge(dataset.updatedAt)}</li>
        </ul>
        <SourceBox dataset={dataset} state={source} canWrite={canWrite} onChanged={props.onChanged} />
      </PageHead>

      {isEmpty ? (
        <Empty icon="table" title="No rows yet">
          This dataset is empty.{' '}
          {source.source
            ? 'Its rows come with the next refresh of its series.'
            : canWrite && 'Choose “Add rows” above, or drop a file there.'}
        </Empty>
      ) : (
        <>
          <Toolbar
            tabs={
              <Tabs
                label="Views of the dataset"
                value={tab}
                tabs={apply === '' ? TABS : TABS.filter(({ value }) => value !== 'columns')}
                onValue={(view) => updateQuery({ view: view === 'table' ? '' : view })}
              />
            }
            count={
              rows.rowCount === undefined ? '' : countText(rows.rowCount, dataset.rowCount, filter, apply)
            }
            building={building}
            onBuilding={() => setBuilding(!building)}
            grouping={grouping}
            onGrouping={() => setGrouping(!grouping)}
            hidden={view ? view.columns.length - view.shown.length : 0}
            onColumns={tab === 'table' ? () => setChoosing(true) : undefined}
          />
          <FilterBar
            columns={dataset.columns}
            filter={filter}
            error={
              filter === '' || (rows.pending && refused === undefined) ? undefined : filterError(rows.error)
            }
            valuesOf={valuesOf}
            example={stats && exampleFilter(stats)}
            onApply={setFilter}
          />
          {choosing && view && (
            <ColumnChooser
              columns={view.columns}
              shown={view.shown}
              onShown={(chosen) => updateQuery({ columns: writeShown(chosen, view.columns) })}
              onGoTo={(column) => {
                setChoosing(false)
                setGoTo({ column: column.name })
              }}
              onClose={() => setChoosing(false)}
            />
          )}
          {building && (
            <FilterBuilder columns={dataset.columns} filter={filter} stats={stats} onApply={setFilter} />
          )}
          {grouping && <GroupBuilder columns={dataset.columns} apply={apply} onApply={setApply} />}
          {(grouping || apply !== '') && (
            <ApplyBar
              apply={apply}
              error={refused instanceof ApplyRefused ? refused : undefined}
              onApply={setApply}
            />
          )}
          <section class="dataset-view" role="tabpanel" id={`panel-${tab}`} aria-label={tab}>
            {tab === 'table' && (
              <TableView
                dataset={dataset}
                goTo={goTo}
                rows={rows}
                order={order}
                filter={filter}
                apply={apply}
                profile={apply === '' ? stats : undefined}
                onFilter={setFilter}
                onOrder={setOrder}
              />
            )}
            {tab === 'columns' && (
              <ColumnsView dataset={dataset} filter={filter} profile={profile} onFilter={setFilter} />
            )}
            {tab === 'plot' && apply !== '' && view && (
              <Lazy load={loadResultPlot} label="Loading the plot">
                {(ResultPlot) => <ResultPlot dataset={dataset} view={view} query={query} />}
              </Lazy>
            )}
            {tab === 'plot' && apply === '' && (
              <Lazy load={loadPlot} label="Loading the plot">
                {(PlotView) => <PlotView dataset={dataset} filter={filter} query={query} />}
              </Lazy>
            )}
          </section>
        </>
      )}
    </div>
  )
}

function Missing(props: { readonly error: unknown; readonly onRetry: () => void }) {
  if (isStatus(props.error, 403, 404)) {
    return (
      <Empty
        page
        icon="table"
        title={props.error.status === 404 ? 'No such dataset' : 'This dataset is private'}
        action={
          <a class="button button-primary" href={href([])}>
            All data
          </a>
        }
      >
        {props.error.status === 404
          ? 'It may have been deleted, or the address is wrong.'
          : 'Ask its owner to make you a member of the repository.'}
      </Empty>
    )
  }
  return <Failure error={props.error} onRetry={props.onRetry} />
}

const TABS = [
  { value: 'table', label: 'Table', icon: 'table' },
  { value: 'columns', label: 'Columns', icon: 'columns' },
  { value: 'plot', label: 'Plot', icon: 'plot' },
] as const

/** Errors of the filter, which are shown below it; others are shown in place of the rows. */
function filterError(error: unknown): unknown {
  return isStatus(error, 400) ? error : undefined
}

function countText(matching: number, all: number, filter: string, apply: string): string {
  if (apply !== '') return `${plural(matching, 'row')} in the result`
  return filter === '' ? 'all rows' : `${formatCount(matching)} of ${plural(all, 'row')}`
}

function tabOf(view: string | undefined): DatasetTab {
  return view === 'columns' || view === 'plot' ? view : 'table'
}
