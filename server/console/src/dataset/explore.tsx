import { readConditions } from '../filter/conditions.ts'
import { FilterBar } from '../filter/filter-bar.tsx'
import { FilterBuilder } from '../filter/filter-builder.tsx'
import { formatCount, plural } from '../format.ts'
import { GroupBuilder } from '../group/group-builder.tsx'
import { updateQuery } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { SearchBox } from '../ui/field.tsx'
import { Icon, type IconName } from '../ui/icons.tsx'
import { lazy } from '../ui/resource.tsx'
import { ColumnChooser } from '../view/column-chooser.tsx'
import { viewQuery } from '../view/view.ts'
import { ColumnsView } from './columns-view.tsx'
import { showAsSql } from './explain-dialog.tsx'
import type { Exploration } from './exploration.ts'
import { TableView } from './table-view.tsx'

const PlotView = lazy(async () => (await import('../plot/plot-view.tsx')).PlotView)

interface ExploreProps {
  readonly exploration: Exploration
  readonly tab: 'table' | 'columns' | 'plot'
  readonly canWrite: boolean
  /** Whether cells may be changed. */
  readonly canEdit: boolean
}

/** The rows, columns or plot of a dataset, with one filter for all three, and the forms beside them. */
export function Explore(props: ExploreProps) {
  const { exploration, tab, canWrite, canEdit } = props
  const { dataset, query, apply, view } = exploration
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
        <FilterBar {...exploration} />
      </div>
      <Chips {...props} />
      <div class="beside">
        <section class="dataset-view" role="tabpanel" id={`panel-${tab}`} aria-label={tab}>
          {tab === 'table' && <TableView {...exploration} canEdit={canEdit} />}
          {tab === 'columns' && <ColumnsView {...exploration} canWrite={canWrite} />}
          {tab === 'plot' && view && <PlotView {...{ dataset, view, query }} />}
        </section>
        <Panel {...props} key={apply === '' ? 'rows' : 'groups'} />
      </div>
    </>
  )
}

const PANELS = { filter: 'Filter', group: 'Group and sum', columns: 'Columns' } as const
type PanelName = keyof typeof PANELS

/** Buttons that open the forms, and say what each of them does at the moment, and the number of rows. */
function Chips({ tab, exploration }: ExploreProps) {
  const { dataset, query, of, apply, view } = exploration
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
        {countText(exploration)}
      </p>
    </div>
  )
}

/** The form that is open, beside the rows. */
function Panel({ tab, exploration }: ExploreProps) {
  const { dataset, query, view } = exploration
  const name = query['panel'] as PanelName | undefined
  if (name === undefined || !(name in PANELS) || (name === 'columns' && tab !== 'table')) return null
  return (
    <aside class="panel" aria-label={`${PANELS[name]}: form`}>
      <header class="section-head">
        <h2>{PANELS[name]}</h2>
        <Button look="quiet" icon="close" label="Close the form" to={() => updateQuery({ panel: '' })} />
      </header>
      {name === 'filter' && <FilterBuilder {...exploration} />}
      {name === 'group' && <GroupBuilder {...exploration} />}
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

function countText({ dataset, rows, of, apply }: Exploration): string {
  const matching = rows.windows?.rowCount
  if (matching === undefined) return ''
  if (apply !== '') return `${plural(matching, 'row')} in the result`
  return of.filter === '' && of.search === ''
    ? 'all rows'
    : `${formatCount(matching)} of ${plural(dataset.rowCount, 'row')}`
}
