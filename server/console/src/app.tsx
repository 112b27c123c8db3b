import { useEffect, useRef } from 'preact/hooks'
import { type Shelves, shelves } from './api.ts'
import { useEvent, useRound } from './hooks.ts'
import { HomePage, RepositoryPage } from './pages/data.tsx'
import { DatasetPage } from './pages/dataset.tsx'
import { SignIn } from './pages/sign-in.tsx'
import { type Address, href, useAddress } from './router.ts'
import { sessionKey } from './session.ts'
import { setTheme, useTheme } from './theme.ts'
import { Button } from './ui/button.tsx'
import { DialogHost, openDialog } from './ui/dialog.tsx'
import { Empty } from './ui/feedback.tsx'
import { Icon, type IconName, Mark } from './ui/icons.tsx'
import { ALL_DATA } from './ui/page.tsx'
import { Loaded, lazy, useResource } from './ui/resource.tsx'
import { Toasts } from './ui/toast.tsx'

const UploadPage = lazy(async () => (await import('./upload/upload-page.tsx')).UploadPage, true)
const MembersPage = lazy(async () => (await import('./dataset/share.tsx')).MembersPage, true)
const AccountPage = lazy(async () => (await import('./account/account-pages.tsx')).AccountPage, true)
const AccountsPage = lazy(async () => (await import('./account/account-pages.tsx')).AccountsPage, true)
const ProvidersPage = lazy(async () => (await import('./providers/providers.tsx')).ProvidersPage, true)
const SqlPage = lazy(async () => (await import('./sql/sql-page.tsx')).SqlPage, true)
const ProviderPage = lazy(async () => (await import('./providers/providers.tsx')).ProviderPage, true)

/** The frame of the console, and the page for the address. */
export function App() {
  const address = useAddress()
  const [, again] = useRound()
  useEvent('parquetry:key', again)
  return (
    <>
      {sessionKey() ? <Frame address={address} /> : <SignIn />}
      <Toasts />
    </>
  )
}

function Frame(props: { readonly address: Address }) {
  const { path } = props.address
  const main = useRef<HTMLElement>(null)
  const page = path.join('/')
  const first = useRef(true)
  useKeys()
  useEffect(() => {
    // After navigation the focus moves to the new page, so that screen readers read it from its heading. At the start
    // the browser sets the focus.
    if (!first.current) main.current?.focus({ preventScroll: true })
    first.current = false
    scrollTo(0, 0)
  }, [page])
  const section = SECTIONS.find(({ to }) => to === path[0]) ?? SECTIONS[0]
  return (
    <>
      <header class="top">
        <a
          class="skip"
          href={location.hash || '#/'}
          onClick={(event) => {
            event.preventDefault()
            main.current?.focus()
          }}
        >
          Skip to the content
        </a>
        <a class="brand" href={href([])} aria-label="Parquetry, all data">
          <Mark />
          <span>Parquetry</span>
        </a>
        <nav class="top-nav" aria-label="Main">
          {SECTIONS.map((one) => (
            <a
              key={one.label}
              class="nav-link"
              href={href(one.to === '' ? [] : [one.to])}
              aria-current={one === section ? 'page' : undefined}
            >
              <Icon name={one.icon} />
              <span>{one.label}</span>
            </a>
          ))}
        </nav>
        <a class="nav-link top-docs" href="/guide/" target="_blank" rel="noreferrer">
          Guide
        </a>
        <a class="nav-link top-docs" href="/docs" target="_blank" rel="noreferrer">
          API
        </a>
        <Button look="quiet key-help" label="Keys" to={showKeys} says="?" />
        <ThemeButton />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <PageAt address={props.address} />
      </main>
      <DialogHost />
    </>
  )
}

const SECTIONS: readonly { readonly to: string; readonly icon: IconName; readonly label: string }[] = [
  { to: '', icon: 'table', label: 'Data' },
  { to: 'sql', icon: 'code', label: 'SQL' },
  { to: 'providers', icon: 'globe', label: 'Providers' },
  { to: 'account', icon: 'key', label: 'Account' },
]

function PageAt({ address }: { readonly address: Address }) {
  const { path, query } = address
  const [section, name, part] = path
  const id = Number(name)
  // Different keys make Preact mount a new page for another resource, so that no state of the last one remains.
  if (section === undefined) return <HomePage search={query['search'] ?? ''} />
  if (section === 'datasets' && id > 0) return <DatasetPage key={name} id={id} query={query} />
  if (section === 'd') return <NamedDataset key={path.join('/')} names={path.slice(1)} query={query} />
  if (section === 'upload') return <UploadPage />
  if (section === 'repositories' && id > 0) {
    const target = Number(query['dataset']) || undefined
    if (part === 'upload')
      return <UploadPage key={`${name} ${target}`} repositoryId={id} datasetId={target} />
    if (part === 'members') return <MembersPage key={name} repositoryId={id} />
    return <RepositoryPage key={name} id={id} />
  }
  if (section === 'sql') return <SqlPage query={query} />
  if (section === 'account') return name === 'all' ? <AccountsPage /> : <AccountPage />
  if (section === 'providers' && name === undefined) return <ProvidersPage />
  if (section === 'providers') return <ProviderPage key={name} slug={name!} query={query} />
  return <NoSuchPage />
}

/** A dataset by the names of its repository and itself, with the owner in front where others have the same ones. */
function NamedDataset(props: { readonly names: readonly string[]; readonly query: Address['query'] }) {
  const { names, query } = props
  const found = useResource(async (signal) => {
    const [name, repository, owner] = names.toReversed()
    const { homes, tables } = await shelves({ signal })
    const isHome = (home: Shelves['homes'][number]) =>
      home.name === repository && (owner === undefined || home.owner === owner)
    const ids = new Set(homes.filter(isHome).map(({ id }) => id))
    return tables.find((table) => table.name === name && ids.has(table.repositoryId))?.id ?? 0
  }, [])
  return (
    <Loaded of={found} page label="Loading">
      {(id) => (id > 0 ? <DatasetPage id={id} query={query} /> : <NoSuchPage />)}
    </Loaded>
  )
}

function NoSuchPage() {
  return (
    <Empty page icon="search" title="There is no such page" action={ALL_DATA}>
      The address may have been cut off when it was sent.
    </Empty>
  )
}

function ThemeButton() {
  const theme = useTheme()
  const other = theme === 'dark' ? 'light' : 'dark'
  return (
    <Button
      look="quiet"
      icon={theme === 'dark' ? 'sun' : 'moon'}
      label={`Change to ${other} colours`}
      to={() => setTheme(other)}
    />
  )
}

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['/', 'search on this page'],
  ['f', 'write a filter'],
  ['?', 'show these keys'],
  ['g h', 'home'],
  ['g u', 'upload a file'],
  ['g s', 'SQL'],
  ['g p', 'providers'],
  ['Esc', 'close what is open'],
  ['← ↑ → ↓', 'move in a table, among tabs, in a menu or a tree'],
  ['Home End', 'first or last column of a table'],
  ['Ctrl Home', 'first row, and with Ctrl End the last'],
  ['Page Up', 'a screen of rows up, and with Page Down one down'],
  ['Enter', 'change the chosen cell'],
  ['Ctrl C', 'copy the chosen cell'],
  ['Ctrl V', 'on the pages for uploads, take the cells copied in a spreadsheet'],
]

const PLACES: Readonly<Record<string, string>> = { h: '#/', u: '#/upload', s: '#/sql', p: '#/providers' }

/** The keys that work everywhere, except while the user types. */
function useKeys(): void {
  const before = useRef('')
  useEvent('keydown', (event) => {
    const { key } = event
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
    const path = before.current === 'g' ? PLACES[key] : undefined
    before.current = key
    const field = key === '/' ? '[type=search]' : key === 'f' ? '.filter-text textarea' : undefined
    const focused = field === undefined ? null : document.querySelector<HTMLElement>(`main ${field}`)
    if (key === '?') showKeys()
    else if (path !== undefined) location.hash = path
    else if (!focused) return
    event.preventDefault()
    focused?.focus()
  })
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return (
    target.closest('input:not([type=checkbox], [type=radio], [type=file]), textarea, select, dialog') !== null
  )
}

function showKeys(): void {
  const content = () => (
    <dl class="dialog-body key-table">
      {KEYS.map(([keys, does]) => (
        <div key={keys}>
          <dt>
            {keys.split(' ').map((one) => (
              <kbd key={one}>{one}</kbd>
            ))}
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  )
  openDialog({ title: 'Keys', content })
}
