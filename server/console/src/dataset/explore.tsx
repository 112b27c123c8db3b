import { isStatus } from '../api.ts'
import { readConditions } from '../filter/conditions.ts'
import { exampleFilter } from '../filter/example.ts'
import { FilterBar } from '../filter/filter-bar.tsx'
import { FilterBuilder } from '../filter/filter-builder.tsx'
import { formatCount, plural } from '../format.ts'
import { GroupBuilder } from '../group/group-builder.tsx'
import { ApplyRefused } from '../group/result.ts'
import { ColumnsView } from '../profile/columns-view.tsx'
import { type Address, updateQuery } from '../router.ts'
import { bothFilters, type CountedDataset } from '../rows.ts'
import { Button } from '../ui/button.tsx'
import { SearchBox } from '../ui/field.tsx'
import { Icon, type IconName } from '../ui/icons.tsx'
import { lazy } from '../ui/loaded.tsx'
import { ColumnChooser } from '../view/column-chooser.tsx'
import { writeShown } from '../view/shown-columns.ts'
import { viewQuery } from '../view/view.ts'
import { showAsSql } from './explain-dialog.tsx'
import { TableView } from './table-view.tsx'
import type { Exploration } from './use-exploration.ts'

const PlotView = lazy(() => import('../plot/plot-view.tsx'), 'PlotView')

export type ExploreTab = 'table' | 'columns' | 'plot'

interface ExploreProps {
  readonly dataset: CountedDataset
  readonly query: Address['query']
  readonly tab: ExploreTab
  readonly exploration: Exploration
  readonly canWrite: boolean
  /** Whether cells may be changed. */
  readonly canEdit: boolean
}

const setFilter = (filter: string) => updateQuery({ filter }, true)

/** The rows, columns or plot of a dataset, with one filter for all three, and the forms beside them. */
export function Explore(props: ExploreProps) {
  const { dataset, query, tab, exploration, canWrite, canEdit } = props
  const { of, apply, rows, profiles, profile } = exploration
  const valuesOf = (name: string) => (profiles?.get(name)?.top ?? []).map(({ value }) => String(value))
  const wrong = rows.pending || rows.error instanceof ApplyRefused ? undefined : filterError(rows.error)
  return (
    <>
      <div class="query">
        <Search dataset={dataset} search={of.search} />
        <FilterBar
          columns={dataset.columns}
          filter={of.filter}
          error={of.filter === '' && of.search === '' ? undefined : wrong}
          valuesOf={valuesOf}
          example={profiles && exampleFilter(profiles)}
          onApply={setFilter}
        />
      </div>
      <Chips {...props} />
      <div class="beside">
        <section class="dataset-view" role="tabpanel" id={`panel-${tab}`} aria-label={tab}>
          {tab === 'table' && (
            <TableView {...{ dataset, exploration, canEdit }} goTo={query['at']} onFilter={setFilter} />
          )}
          {tab === 'columns' && (
            <ColumnsView
              {...{ dataset, profile, canWrite }}
              isNarrowed={of.filter !== '' || of.search !== ''}
              onFilter={(condition) => setFilter(bothFilters(of.filter, condition))}
            />
          )}
          {tab === 'plot' && exploration.view && (
            <PlotView dataset={dataset} view={exploration.view} query={query} />
          )}
        </section>
        <Panel {...props} key={apply === '' ? 'rows' : 'groups'} />
      </div>
    </>
  )
}

function Search({ dataset, search }: { readonly dataset: CountedDataset; readonly search: string }) {
  if (!dataset.columns.some(({ type }) => type === 'string')) return null
  return (
    <SearchBox
      label="Search the rows"
      value={search}
      rests
      onValue={(next) => updateQuery({ search: next })}
    />
  )
}

const PANELS = { filter: 'Filter', group: 'Group and sum', columns: 'Columns' } as const
type PanelName = keyof typeof PANELS

/** Buttons that open the forms, and say what each of them does at the moment, and the number of rows. */
function Chips({ dataset, query, tab, exploration }: ExploreProps) {
  const { of, apply, view, rows } = exploration
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
        {rows.rowCount === undefined ? '' : countText(rows.rowCount, dataset.rowCount, exploration)}
      </p>
    </div>
  )
}

/** The form that is open, beside the rows. */
function Panel({ dataset, query, tab, exploration }: ExploreProps) {
  const { of, apply, view, profiles, applyError } = exploration
  const name = query['panel'] as PanelName | undefined
  if (name === undefined || !(name in PANELS) || (name === 'columns' && tab !== 'table')) return null
  return (
    <aside class="panel" aria-label={`${PANELS[name]}: form`}>
      <header class="section-head">
        <h2>{PANELS[name]}</h2>
        <Button look="quiet" icon="close" label="Close the form" onClick={() => updateQuery({ panel: '' })} />
      </header>
      {name === 'filter' && (
        <FilterBuilder columns={dataset.columns} filter={of.filter} profiles={profiles} onApply={setFilter} />
      )}
      {name === 'group' && (
        <GroupBuilder columns={dataset.columns} apply={apply} error={applyError} onApply={setApply} />
      )}
      {name !== 'columns' && view && (
        <Button look="small" icon="code" onClick={() => showAsSql(dataset.id, viewQuery(view))}>
          Show as SQL
        </Button>
      )}
      {name === 'columns' && view && (
        <ColumnChooser
          columns={view.columns}
          shown={view.shown}
          onShown={(shown) => updateQuery({ columns: writeShown(shown, view.columns) })}
          onGoTo={(column) => updateQuery({ at: column.name })}
        />
      )}
    </aside>
  )
}

/** The result has other columns, so choices about the old ones are dropped. */
function setApply(apply: string): void {
  updateQuery({ apply, orderby: '', columns: '', x: '', y: '', by: '', kind: '', of: '' }, true)
}

/** Errors of the filter, which are shown below it; others are shown in place of the rows. */
function filterError(error: unknown): unknown {
  return isStatus(error, 400) ? error : undefined
}

function countText(matching: number, all: number, { of, apply }: Exploration): string {
  if (apply !== '') return `${plural(matching, 'row')} in the result`
  return of.filter === '' && of.search === ''
    ? 'all rows'
    : `${formatCount(matching)} of ${plural(all, 'row')}`
}
