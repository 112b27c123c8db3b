// biome-ignore-all lint/a11y/useSemanticElements: no elements stand for trees and their items
// biome-ignore-all lint/a11y/noNoninteractiveElementToInteractiveRole: so lists have to serve
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Category } from '../../../client/index.ts'
import { api, messageOf } from '../api.ts'
import { SearchBox } from '../ui/field.tsx'
import { Icon } from '../ui/icons.tsx'

const SEARCHED_FROM = 8
const MOST_SHOWN = 200

/**
 * The categories of a provider, loaded as they are opened. Keys follow the ARIA tree pattern: up and down move, right
 * opens, left closes, Enter selects.
 */
export function Tree(props: {
  readonly slug: string
  readonly top: readonly Category[]
  readonly selected: string | undefined
  readonly onSelect: (path: string) => void
  readonly onAsked: () => void
}) {
  const { top } = props
  const [search, setSearch] = useState('')
  const root = useRef<HTMLUListElement>(null)
  // Only one item is in the tab order: the focused one, else the selected one, else the first.
  useEffect(() => {
    const list = root.current
    if (!list || list.querySelector('[tabindex="0"]')) return
    const item =
      list.querySelector<HTMLElement>('[aria-selected="true"]') ??
      list.querySelector<HTMLElement>('[role="treeitem"]')
    if (item) item.tabIndex = 0
  })
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
      <ul
        class="tree"
        role="tree"
        aria-label="Categories"
        ref={root}
        onKeyDown={(event) => moveInTree(event, root.current!)}
        onFocusIn={(event) => takeTab(event.target as HTMLElement, root.current!)}
      >
        {shown.slice(0, MOST_SHOWN).map((category) => (
          <Node key={category.path} {...props} category={category} level={1} />
        ))}
      </ul>
      {shown.length > MOST_SHOWN && (
        <p class="hint">{shown.length - MOST_SHOWN} more. Find them by a part of their name.</p>
      )}
    </>
  )
}

function Node(props: {
  readonly slug: string
  readonly selected: string | undefined
  readonly onSelect: (path: string) => void
  readonly onAsked: () => void
  readonly category: Category
  readonly level: number
}) {
  const { category, level, selected } = props
  const [open, setOpen] = useState(false)
  const [children, setChildren] = useState<readonly Category[]>()
  const [error, setError] = useState<string>()
  const isSelected = selected === category.path
  const isLeaf = category.series && children?.length === 0

  const toggle = async () => {
    if (open) return setOpen(false)
    setOpen(true)
    if (children) return
    try {
      setError(undefined)
      setChildren((await api().providers.browse(props.slug, category.path)).categories)
      props.onAsked()
    } catch (failure) {
      setError(messageOf(failure))
    }
  }
  const choose = () => {
    if (category.series) props.onSelect(category.path)
    else toggle()
  }
  return (
    <li role="none">
      <div
        class={`tree-item ${isSelected ? 'is-selected' : ''}`}
        role="treeitem"
        aria-level={level}
        aria-expanded={isLeaf ? undefined : open}
        aria-selected={isSelected}
        aria-label={category.name}
        tabIndex={-1}
        title={category.description || category.name}
        style={{ paddingInlineStart: `${(level - 1) * 16 + 6}px` }}
        onClick={choose}
        onKeyDown={(event) => {
          if (event.key === 'Enter' || event.key === ' ') {
            event.preventDefault()
            choose()
          } else if ((event.key === 'ArrowRight' && !open) || (event.key === 'ArrowLeft' && open)) {
            event.preventDefault()
            event.stopPropagation()
            toggle()
          }
        }}
      >
        <span
          class={`tree-twist ${open ? 'is-open' : ''} ${isLeaf ? 'is-leaf' : ''}`}
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation()
            toggle()
          }}
        >
          <Icon name="chevron" />
        </span>
        <span class="tree-name">{category.name}</span>
        {category.series && <Icon name="plot" />}
      </div>
      {open && (
        <ul role="group">
          {!children && !error && (
            <li class="tree-note" role="none">
              loading…
            </li>
          )}
          {error && (
            <li class="tree-note field-error" role="none">
              {error}
            </li>
          )}
          {children?.length === 0 && (
            <li class="tree-note" role="none">
              {category.series ? 'no subcategories; its series are shown beside' : 'nothing below'}
            </li>
          )}
          {children?.map((child) => (
            <Node key={child.path} {...props} category={child} level={level + 1} />
          ))}
        </ul>
      )}
    </li>
  )
}

function moveInTree(event: KeyboardEvent, root: HTMLElement): void {
  const items = [...root.querySelectorAll<HTMLElement>('[role="treeitem"]')]
  const at = items.indexOf(document.activeElement as HTMLElement)
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: items.length - 1,
  }
  const next = steps[event.key]
  if (next === undefined || at < 0) return
  event.preventDefault()
  items[next]?.focus()
}

function takeTab(item: HTMLElement, root: HTMLElement): void {
  for (const other of root.querySelectorAll<HTMLElement>('[tabindex="0"]')) other.tabIndex = -1
  item.tabIndex = 0
}
