import { useEffect, useRef, useState } from 'preact/hooks'
import { AccountPage } from './pages/account.tsx'
import { DatasetPage } from './pages/dataset.tsx'
import { HomePage } from './pages/home.tsx'
import { RepositoryPage } from './pages/repository.tsx'
import { SignIn } from './pages/sign-in.tsx'
import { type Address, href, useAddress } from './router.ts'
import { onSessionKey, sessionKey } from './session.ts'
import { Empty } from './ui/feedback.tsx'
import { Icon, type IconName, Mark } from './ui/icons.tsx'
import { Lazy } from './ui/lazy.tsx'
import { currentTheme, onTheme, setTheme } from './ui/theme.ts'
import { Toasts } from './ui/toast.tsx'

const loadUpload = () => import('./upload/upload-page.tsx').then((module) => module.UploadPage)
const loadMembers = () => import('./members/members-page.tsx').then((module) => module.MembersPage)
const loadAccounts = () => import('./account/accounts-page.tsx').then((module) => module.AccountsPage)
const loadProviders = () => import('./providers/providers-page.tsx').then((module) => module.ProvidersPage)
const loadProvider = () => import('./providers/provider-page.tsx').then((module) => module.ProviderPage)

/** The frame of the console, and the page for the address. */
export function App() {
  const address = useAddress()
  const [signedIn, setSignedIn] = useState(sessionKey() !== undefined)
  useEffect(() => onSessionKey((key) => setSignedIn(key !== undefined)), [])
  return (
    <>
      {signedIn ? <Frame address={address} /> : <SignIn />}
      <Toasts />
    </>
  )
}

function Frame(props: { readonly address: Address }) {
  const { address } = props
  const main = useRef<HTMLElement>(null)
  const place = address.path.join('/')
  const first = useRef(true)
  useEffect(() => {
    // After navigation the focus moves to the new page, so that screen readers read it from its heading. At the start
    // the browser sets the focus.
    if (!first.current) main.current?.focus({ preventScroll: true })
    first.current = false
    scrollTo(0, 0)
  }, [place])
  const section = address.path[0] === 'providers' || address.path[0] === 'account' ? address.path[0] : 'data'
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
          <NavLink href={href([])} icon="table" label="Data" current={section === 'data'} />
          <NavLink
            href={href(['providers'])}
            icon="globe"
            label="Providers"
            current={section === 'providers'}
          />
          <NavLink href={href(['account'])} icon="key" label="Account" current={section === 'account'} />
        </nav>
        <a class="nav-link top-docs" href="/docs" target="_blank" rel="noreferrer">
          API
        </a>
        <ThemeButton />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Page address={address} />
      </main>
    </>
  )
}

function Page(props: { readonly address: Address }) {
  const { path, query } = props.address
  const [section, name, part] = path
  const id = Number(name)
  // Different keys make Preact mount a new page for another resource, so that no state of the last one remains.
  if (section === undefined) return <HomePage search={query['search'] ?? ''} />
  if (section === 'datasets' && id > 0) return <DatasetPage key={name} id={id} address={props.address} />
  if (section === 'repositories' && id > 0 && part === 'upload') {
    const target = Number(query['dataset']) || undefined
    return (
      <Lazy page load={loadUpload} label="Loading the upload page">
        {(UploadPage) => <UploadPage key={`${name} ${target}`} repositoryId={id} datasetId={target} />}
      </Lazy>
    )
  }
  if (section === 'repositories' && id > 0 && part === 'members') {
    return (
      <Lazy page load={loadMembers} label="Loading the members">
        {(MembersPage) => <MembersPage key={name} repositoryId={id} />}
      </Lazy>
    )
  }
  if (section === 'repositories' && id > 0) return <RepositoryPage key={name} id={id} />
  if (section === 'account' && name === 'all') {
    return (
      <Lazy page load={loadAccounts} label="Loading the accounts">
        {(AccountsPage) => <AccountsPage />}
      </Lazy>
    )
  }
  if (section === 'account' && name === undefined) return <AccountPage />
  if (section === 'providers' && name === undefined) {
    return (
      <Lazy page load={loadProviders} label="Loading the providers">
        {(ProvidersPage) => <ProvidersPage />}
      </Lazy>
    )
  }
  if (section === 'providers' && name !== undefined) {
    return (
      <Lazy page load={loadProvider} label="Loading the provider">
        {(ProviderPage) => <ProviderPage key={name} slug={name} query={query} />}
      </Lazy>
    )
  }
  return (
    <Empty
      page
      icon="search"
      title="There is no such page"
      action={
        <a class="button button-primary" href={href([])}>
          All data
        </a>
      }
    >
      The address may have been cut off when it was sent.
    </Empty>
  )
}

function NavLink(props: {
  readonly href: string
  readonly icon: IconName
  readonly label: string
  readonly current: boolean
}) {
  return (
    <a class="nav-link" href={props.href} aria-current={props.current ? 'page' : undefined}>
      <Icon name={props.icon} />
      <span>{props.label}</span>
    </a>
  )
}

function ThemeButton() {
  const [theme, setShown] = useState(currentTheme)
  useEffect(() => onTheme(() => setShown(currentTheme())), [])
  const other = theme === 'dark' ? 'light' : 'dark'
  return (
    <button
      type="button"
      class="button button-quiet button-icon theme"
      aria-label={`Change to ${other} colours`}
      title={`Change to ${other} colours`}
      onClick={() => setTheme(other)}
    >
      <Icon name={theme === 'dark' ? 'sun' : 'moon'} />
    </button>
  )
}
