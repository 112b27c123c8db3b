import { useEffect } from 'preact/hooks'
import type { Dataset } from '../../../client/index.ts'
import { api } from '../api.ts'
import { DatasetActions, showAsSql } from '../dataset/actions.tsx'
import { ColumnsView } from '../dataset/columns-view.tsx'
import {
  type CountedDataset,
  countRows,
  type Exploration,
  namedVersion,
  useExploration,
} from '../dataset/exploration.ts'
import { lastError } from '../dataset/following.ts'
import { restore } from '../dataset/going-back.ts'
import { useNews } from '../dataset/news.ts'
import { TableView } from '../dataset/table-view.tsx'
import { readConditions } from '../filter/conditions.ts'
import { FilterBar, FilterBuilder } from '../filter/filter.tsx'
import { formatAge, formatBytes, formatCount, formatDateTime, plural } from '../format.ts'
import { GroupBuilder } from '../group/group-builder.tsx'
import { type Address, href, updateQuery } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { Empty, Note } from '../ui/feedback.tsx'
import { SearchBox } from '../ui/field.tsx'
import { Icon, type IconName } from '../ui/icons.tsx'
import { ALL_DATA, DATA, Page, Tabs } from '../ui/page.tsx'
import { changed, Loaded, lazy, useResource } from '../ui/resource.tsx'
import { complain } from '../ui/toast.tsx'
import { ColumnChooser } from '../view/column-chooser.tsx'
import { viewQuery } from '../view/view.ts'

const History = lazy(async () => (await import('../dataset/history.tsx')).History)
const Connect = lazy(async () => (await import('../dataset/connect.tsx')).Connect)
const Share = lazy(async () => (await import('../dataset/share.tsx')).Share)

const TABS = [
  { value: 'table', label: 'Table', icon: 'table' },
  { value: 'columns', label: 'Columns', icon: 'info' },
  { value: 'plot', label: 'Plot', icon: 'plot' },
  { value: 'history', label: 'History', icon: 'clock' },
  { value: 'connect', label: 'Connect', icon: 'code' },
  { value: 'share', label: 'Share', icon: 'people' },
] as const

/** A dataset: its rows, columns and plot, its versions, how to read it elsewhere, and who may. */
export function DatasetPage({ id, query }: { readonly id: number; readonly query: Address['query'] }) {
  const version = namedVersion(query)
  const resource = useResource((signal) => open(id, version, signal), [id, version])
  return (
    <Loaded
      of={resource}
      page
      label="Loading the dataset"
      lines={8}
      missing={(status) => (
        <Empty
          page
          icon="table"
          title={status === 404 ? 'No such dataset' : 'This dataset is private'}
          action={ALL_DATA}
        >
          {status === 404
            ? 'It may have been deleted, or the address is wrong.'
            : 'Ask its owner to make you a member of the repository.'}
        </Empty>
      )}
    >
      {(dataset) => <DatasetView dataset={dataset} query={query} />}
    </Loaded>
  )
}

/** The dataset as it is, or as it was in an earlier version. */
async function open(id: number, version: number | undefined, signal: AbortSignal): Promise<CountedDataset> {
  const { datasets } = api()
  const dataset = await datasets.get(id, { signal })
  const isSaved = dataset.rowCount === null
  if (version === undefined || version === dataset.version || isSaved)
    return {
      ...dataset,
      isSaved,
      isNewest: true,
      rowCount: dataset.rowCount ?? (await countRows(id, { filter: '', search: '' }, signal)),
    }
  const [columns, past] = await Promise.all([
    datasets.columns(id, { version, signal }),
    datasets.version(id, version, { signal }),
  ])
  return {
    ...dataset,
    isSaved,
    isNewest: false,
    columns,
    version,
    rowCount: past.rowCount,
    bytes: past.bytes,
    updatedAt: past.createdAt,
  }
}

function DatasetView(props: { readonly dataset: CountedDataset; readonly query: Address['query'] }) {
  const { dataset, query } = props
  const exploration = useExploration(dataset, query)
  const newest = useNews(dataset, !query['version'] && !dataset.isSaved)
  // Results of `$apply`, whose columns are few and calculated, and past versions have no profile. A saved query has
  // neither that nor versions of its own.
  const hasProfile = exploration.apply === '' && !query['version'] && !dataset.isSaved
  const tabs = TABS.filter(({ value }) =>
    value === 'columns' ? hasProfile : value !== 'history' || !dataset.isSaved,
  )
  const tab = tabs.find(({ value }) => value === query['view'])?.value ?? 'table'
  const explored = tab === 'table' || tab === 'columns' || tab === 'plot' ? tab : undefined
  const { of, home } = exploration
  return (
    <Page
      full={tab === 'table'}
      trail={[DATA, [home?.name ?? '…', href(['repositories', dataset.repositoryId])]]}
      title={dataset.name}
      actions={<DatasetActions {...exploration} />}
      intro={
        <>
          <Facts dataset={dataset} newest={newest} />
          <SourceBox {...exploration} />
        </>
      }
    >
      <Tabs
        label="Views of the dataset"
        value={tab}
        tabs={tabs}
        onValue={(next) => updateQuery({ view: next === 'table' ? '' : next }, true)}
      />
      {of.version === dataset.version && <PastVersion {...exploration} />}
      {explored && dataset.rowCount > 0 ? (
        <Explore {...exploration} tab={explored} />
      ) : (
        <section role="tabpanel" id={`panel-${tab}`} aria-label={tab}>
          {tab === 'history' && <History {...exploration} />}
          {tab === 'connect' && <Connect {...exploration} />}
          {tab === 'share' && <Share {...exploration} />}
          {explored && <NoRowsYet {...exploration} />}
        </section>
      )}
    </Page>
  )
}

/** The most characters of a description that is shown without being asked for, so that the table is not far below. */
const LONG_DESCRIPTION = 400

/** A description, which is Markdown: as it was typed, until the code that reads it is there. */
function Description({ text }: { readonly text: string }) {
  const { value: code } = useResource(() => import('../dataset/markdown.ts'), [])
  return code ? <code.Markdown text={text} /> : <p class="lede">{text}</p>
}

interface FactsProps {
  readonly dataset: CountedDataset
  /** As it is now, if that is not what is shown. */
  readonly newest: Dataset | undefined
}

function Facts({ dataset, newest }: FactsProps) {
  const { title, description, creator, license } = dataset
  return (
    <>
      {title && <p class="lede">{title}</p>}
      {description.length > LONG_DESCRIPTION ? (
        <details>
          <summary>Description</summary>
          <Description text={description} />
        </details>
      ) : (
        description && <Description text={description} />
      )}
      <ul class="facts">
        <li>{plural(dataset.rowCount, 'row')}</li>
        <li>{plural(dataset.columns.length, 'column')}</li>
        <li>{dataset.isSaved ? 'saved query' : `${formatBytes(dataset.bytes)} stored`}</li>
        {!dataset.isSaved && <li>version {dataset.version}</li>}
        <li>changed {formatAge(dataset.updatedAt)}</li>
        {creator && <li>by {creator}</li>}
        {license && <li>licence {license}</li>}
      </ul>
      <p class="news" role="status">
        {newest && <Button look="small" icon="plus" to={changed} says={newsOf(dataset, newest)} />}
      </p>
    </>
  )
}

function newsOf({ rowCount: shown }: CountedDataset, { rowCount }: Dataset): string {
  const more = (rowCount ?? 0) - shown
  return more > 0 ? plural(more, 'new row') : 'Rows have changed'
}

function NoRowsYet({ source, canWrite }: Exploration) {
  return (
    <Empty icon="table" title="No rows yet">
      This dataset is empty.{' '}
      {source
        ? 'Its rows come with the next refresh.'
        : canWrite && 'Choose “Add rows” above, or let it follow series or a file, under “More”.'}
    </Empty>
  )
}

const SCHEDULES: Readonly<Record<string, string>> = {
  'on-change': 'when it changes',
  release: 'after each announced release',
}

/** A first refresh that takes longer than its request waits is looked for again. */
const FIRST_RUN_CHECK_MS = 3_000

/** The series that a dataset follows, and the state of its refreshes. */
function SourceBox({ source }: Exploration) {
  const isComing = source?.lastRun === null
  useEffect(() => {
    if (!isComing) return
    const timer = setTimeout(changed, FIRST_RUN_CHECK_MS)
    return () => clearTimeout(timer)
  }, [source])
  if (!source) return null
  const did = source.lastError ? 'tried' : 'refreshed'
  const refreshed = source.lastRun === null ? 'not refreshed yet' : `${did} ${formatAge(source.lastRun)}`
  return (
    <section class="source" aria-label="What is followed">
      <p>
        Follows {source.url ?? (source.series.join(', ') || 'a query')}{' '}
        {SCHEDULES[source.every] ?? `every ${source.every}`} · {refreshed} · next{' '}
        {formatDateTime(source.nextRun)}
        {source.nextRelease && ` · next release: ${source.nextRelease.name}, ${source.nextRelease.date}`}
      </p>
      {source.lastError && (
        <p class="field-error" role="status">
          {lastError(source)}
        </p>
      )}
    </section>
  )
}

/** Says that the rows are those of the version that the address names, and leads to those of the newest. */
function PastVersion({ dataset, canWrite }: Exploration) {
  const back = () => updateQuery({ version: '' }, true)
  return (
    <Note icon="clock">
      You see version {dataset.version}, of {formatDateTime(dataset.updatedAt)}.{' '}
      <Button look="small" to={back} says="Back to the current rows" />{' '}
      {canWrite && !dataset.isNewest && (
        <Button
          look="small"
          to={() => restore(dataset.id, dataset.version, back).catch(complain)}
          says="Restore this version"
        />
      )}
    </Note>
  )
}

const PlotView = lazy(async () => (await import('../plot/plot-view.tsx')).PlotView)

type ExploreProps = Exploration & { readonly tab: 'table' | 'columns' | 'plot' }

/** The rows, columns or plot of a dataset, with one filter for all three, and the forms beside them. */
function Explore(props: ExploreProps) {
  const { tab, dataset, query, apply, view } = props
  return (
    <>
      <div class="query">
        {dataset.columns.some(({ type }) => type === 'string') && (
          <SearchBox
            label="Search the rows"
            value={query['search'] ?? ''}
            onValue={(search) => updateQuery({ search })}
          />
        )}
        <FilterBar {...props} />
      </div>
      <Chips {...props} />
      <div class="beside">
        <section class="dataset-view" role="tabpanel" id={`panel-${tab}`} aria-label={tab}>
          {tab === 'table' && <TableView {...props} />}
          {tab === 'columns' && <ColumnsView {...props} />}
          {tab === 'plot' && view && <PlotView {...props} view={view} />}
        </section>
        <Panel {...props} key={apply === '' ? 'rows' : 'groups'} />
      </div>
    </>
  )
}

const PANELS = { filter: 'Filter', group: 'Group and sum', columns: 'Columns' } as const
type PanelName = keyof typeof PANELS

/** Buttons that open the forms, and say what each of them does at the moment, and the number of rows. */
function Chips(props: ExploreProps) {
  const { tab, dataset, query, of, apply, view } = props
  const conditions = of.filter === '' ? 0 : (readConditions(of.filter, dataset.columns)?.list.length ?? 1)
  const hidden = view ? view.columns.length - view.shown.length : 0
  const chip = (name: PanelName, icon: IconName, state: string) => {
    const open = query['panel'] === name
    return (
      <button
        type="button"
        class={`chip ${state === '' ? '' : 'is-set'}`}
        aria-expanded={open}
        onClick={() => updateQuery({ panel: open ? '' : name })}
      >
        <Icon name={icon} />
        <span>{PANELS[name]}</span>
        {state !== '' && <span class="figures">{state}</span>}
      </button>
    )
  }
  return (
    <div class="chips">
      {chip('filter', 'filter', conditions === 0 ? '' : plural(conditions, 'condition'))}
      {chip('group', 'sum', apply === '' ? '' : 'on')}
      {tab === 'table' && chip('columns', 'columns', hidden === 0 ? '' : `${formatCount(hidden)} hidden`)}
      <p class="row-count figures" role="status" data-testid="row-count">
        {countText(props)}
      </p>
    </div>
  )
}

/** The form that is open, beside the rows. */
function Panel(props: ExploreProps) {
  const { tab, dataset, query, view } = props
  const name = query['panel'] as PanelName | undefined
  if (name === undefined || !(name in PANELS) || (name === 'columns' && tab !== 'table')) return null
  return (
    <aside
      class="panel"
      aria-label={`${PANELS[name]}: form`}
      onKeyDown={({ key }) => key === 'Escape' && closePanel()}
    >
      <header class="section-head">
        <h2>{PANELS[name]}</h2>
        <Button look="quiet" icon="close" label="Close the form" to={closePanel} />
      </header>
      {name === 'filter' && <FilterBuilder {...props} />}
      {name === 'group' && <GroupBuilder {...props} />}
      {name !== 'columns' && view && (
        <Button
          look="small"
          icon="code"
          to={() => showAsSql(dataset.id, viewQuery(view))}
          says="Show as SQL"
        />
      )}
      {name === 'columns' && view && <ColumnChooser {...view} />}
    </aside>
  )
}

/** Gives the focus back to what opened the form. */
function closePanel(): void {
  document.querySelector<HTMLElement>('.chip[aria-expanded=true]')?.focus()
  updateQuery({ panel: '' })
}

function countText({ dataset, rows, of, apply }: Exploration): string {
  const matching = rows.windows?.rowCount
  if (matching === undefined) return ''
  if (apply !== '') return `${plural(matching, 'row')} in the result`
  return of.filter === '' && of.search === ''
    ? 'all rows'
    : `${formatCount(matching)} of ${plural(dataset.rowCount, 'row')}`
}
