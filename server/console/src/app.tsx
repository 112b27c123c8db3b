import { useEffect, useRef } from 'preact/hooks'
import { useEvent, useRound } from './hooks.ts'
import { showKeys, useKeys } from './keys.tsx'
import { AccountPage } from './pages/account.tsx'
import { DatasetPage } from './pages/dataset.tsx'
import { HomePage } from './pages/home.tsx'
import { RepositoryPage } from './pages/repository.tsx'
import { SignIn } from './pages/sign-in.tsx'
import { type Address, href, useAddress } from './router.ts'
import { sessionKey } from './session.ts'
import { setTheme, useTheme } from './theme.ts'
import { Button } from './ui/button.tsx'
import { DialogHost } from './ui/dialog.tsx'
import { Empty } from './ui/feedback.tsx'
import { Icon, type IconName, Mark } from './ui/icons.tsx'
import { ALL_DATA } from './ui/page.tsx'
import { lazy } from './ui/resource.tsx'
import { Toasts } from './ui/toast.tsx'

const UploadPage = lazy(() => import('./upload/upload-page.tsx'), 'UploadPage', true)
const MembersPage = lazy(() => import('./members/members-page.tsx'), 'MembersPage', true)
const AccountsPage = lazy(() => import('./account/accounts-page.tsx'), 'AccountsPage', true)
const ProvidersPage = lazy(() => import('./providers/providers-page.tsx'), 'ProvidersPage', true)
const SqlPage = lazy(() => import('./sql/sql-page.tsx'), 'SqlPage', true)
const ProviderPage = lazy(() => import('./providers/provider-page.tsx'), 'ProviderPage', true)

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
  const place = path.join('/')
  const first = useRef(true)
  useKeys()
  useEffect(() => {
    // After navigation the focus moves to the new page, so that screen readers read it from its heading. At the start
    // the browser sets the focus.
    if (!first.current) main.current?.focus({ preventScroll: true })
    first.current = false
    scrollTo(0, 0)
  }, [place])
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
