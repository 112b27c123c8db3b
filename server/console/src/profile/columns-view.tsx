import { useState } from 'preact/hooks'
import type { Dataset } from '../../../client/index.ts'
import type { Profile } from '../dataset/use-profile.ts'
import { formatCount, plural } from '../format.ts'
import { Failure, Loading, Note } from '../ui/feedback.tsx'
import { SearchBox } from '../ui/field.tsx'
import { ColumnCard } from './column-card.tsx'
import { bothFilters } from './exact.ts'

/** Exact figures cost a few requests per column. With more columns than this they are fetched only on demand. */
const ASKED_AT_ONCE = 12
/** How many columns are shown at first, and how many more with each click. */
const SHOWN_AT_ONCE = 48

/** All columns, each with its type and a small profile. */
export function ColumnsView(props: {
  readonly dataset: Dataset
  readonly filter: string
  readonly profile: Profile
  readonly onFilter: (filter: string) => void
}) {
  const { dataset, profile } = props
  const [search, setSearch] = useState('')
  const [most, setMost] = useState(SHOWN_AT_ONCE)
  if (profile.state === 'failed') return <Failure error={profile.error} />
  if (profile.state === 'loading') return <Loading label="Looking at the columns" lines={8} />
  const wanted = search.trim().toLowerCase()
  const found = dataset.columns.filter((column) => column.name.toLowerCase().includes(wanted))
  const shown = found.slice(0, most)
  return (
    <div class="columns-view">
      <div class="columns-head">
        <Note>
          {profile.whole
            ? `Everything here is counted over all ${plural(profile.rows, 'row')}${props.filter ? ' that match' : ''}.`
            : `Shapes come from a sample of ${formatCount(profile.rows)} rows, taken at equal distances. Nulls and extremes are counted over all rows${props.filter ? ' that match' : ''}.`}
        </Note>
        {dataset.columns.length > 8 && <SearchBox label="Find a column" value={search} onValue={setSearch} />}
      </div>
      {shown.length === 0 && <p class="hint">No column has “{search}” in its name.</p>}
      <ul class="cards">
        {shown.map((column) => {
          const stats = profile.stats.get(column.name)
          return (
            stats && (
              <ColumnCard
                key={column.name}
                dataset={dataset}
                filter={props.filter}
                stats={stats}
                whole={profile.whole}
                askAtOnce={dataset.columns.length <= ASKED_AT_ONCE}
                onFilter={(condition) => props.onFilter(bothFilters(props.filter, condition))}
              />
            )
          )
        })}
      </ul>
      {found.length > shown.length && (
        <button type="button" class="button more" onClick={() => setMost(most + SHOWN_AT_ONCE)}>
          Show more of the {plural(found.length, 'column')}
        </button>
      )}
    </div>
  )
}
