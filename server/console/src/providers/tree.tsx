import { useState } from 'preact/hooks'
import type { Category } from '../../../client/index.ts'
import { api } from '../api.ts'
import { Failure } from '../ui/feedback.tsx'
import { SearchBox } from '../ui/field.tsx'
import { Icon } from '../ui/icons.tsx'

const SEARCHED_FROM = 8
const MOST_SHOWN = 200

interface TreeProps {
  readonly slug: string
  /** The path of the category whose series are shown. */
  readonly selected: string | undefined
  readonly onSelect: (path: string) => void
}

/** The categories of a provider, loaded as they are opened. Opening one that has series shows them. */
export function Tree(props: TreeProps & { readonly top: readonly Category[] }) {
  const { top } = props
  const [search, setSearch] = useState('')
  const wanted = search.trim().toLowerCase()
  const shown = top.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted))
  return (
    <>
      {top.length > SEARCHED_FROM && <SearchBox label="Find a category" value={search} onValue={setSearch} />}
      {shown.length === 0 && (
        <p class="hint">
          {top.length === 0
            ? 'This provider has no categories; open a series by its id.'
            : 'No category matches.'}
        </p>
      )}
      <ul class="tree">
        {shown.slice(0, MOST_SHOWN).map((category) => (
          <Branch key={category.path} {...props} category={category} />
        ))}
      </ul>
      {shown.length > MOST_SHOWN && (
        <p class="hint">{shown.length - MOST_SHOWN} more. Find them by a part of their name.</p>
      )}
    </>
  )
}

function Branch(props: TreeProps & { readonly category: Category }) {
  const { category, slug, selected } = props
  const { path, name, description, series } = category
  const [children, setChildren] = useState<readonly Category[]>()
  const [error, setError] = useState<unknown>()
  const load = async () => {
    setError(undefined)
    try {
      setChildren((await api().providers.browse(slug, path)).categories)
    } catch (failure) {
      setError(failure)
    }
  }
  return (
    <li>
      <details
        onToggle={(event) => {
          if (!event.currentTarget.open) return
          if (series) props.onSelect(path)
          if (!children) load()
        }}
      >
        <summary class={selected === path ? 'is-selected' : ''} title={description || name}>
          {name} {series && <Icon name="plot" />}
        </summary>
        {error !== undefined && <Failure error={error} onRetry={load} />}
        {children?.length === 0 && (
          <p class="hint">{series ? 'Its series are shown beside.' : 'There is nothing below.'}</p>
        )}
        <ul>
          {children?.map((child) => (
            <Branch key={child.path} {...props} category={child} />
          ))}
        </ul>
      </details>
    </li>
  )
}
