import { useState } from 'preact/hooks'
import type { Format, Member, Permission, Repository } from '../../../client/index.ts'
import { api } from '../api.ts'
import { formatDateTime, plural } from '../format.ts'
import { href } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { Empty } from '../ui/feedback.tsx'
import { Select } from '../ui/field.tsx'
import { ask, LineForm } from '../ui/form.tsx'
import { ALL_DATA, Card, DATA, Page } from '../ui/page.tsx'
import { Loaded, useResource } from '../ui/resource.tsx'
import { announce, perform } from '../ui/toast.tsx'
import { viewQuery } from '../view/view.ts'
import type { Exploration } from './exploration.ts'

/** In seconds. */
const LIFETIMES = { 300: 'five minutes', 86400: 'a day', 604800: 'a week', 31536000: 'a year' }
const FORMATS = ['csv', 'xlsx', 'parquet', 'json'] as const

/** Who may read a dataset, and links that download its rows without a key. */
export function Share({ dataset, view }: Exploration) {
  const [made, setMade] = useState<{ readonly href: string; readonly expiresAt: string }>()
  return (
    <div class="share">
      <Card
        title="A link without a key"
        hint="Whoever has it downloads these rows in your name, which counts as your export. It ends when you lose the right to read them, and when the key that you use here is replaced."
      >
        <LineForm
          action="Make a link"
          fields={{
            format: { label: 'Format of the rows', value: 'csv' as Format, options: FORMATS },
            lifetime: { label: 'How long it works', value: '300', options: LIFETIMES },
          }}
          onSubmit={async ({ format, lifetime }) => {
            const rows = view ? viewQuery(view) : {}
            const { url, expiresAt } = await api().datasets.link(dataset.id, format, rows, {
              expiresIn: Number(lifetime),
            })
            setMade({ href: url.href, expiresAt })
          }}
        />
        {made && (
          <div class="secret">
            <span>
              <code data-testid="link">{made.href}</code>{' '}
              <span class="hint">until {formatDateTime(made.expiresAt)}</span>
            </span>
            <CopyButton text={made.href} what="The link is" />
          </div>
        )}
      </Card>
      <Members repositoryId={dataset.repositoryId} />
    </div>
  )
}

const PERMISSIONS: Readonly<Record<Permission, string>> = { Read: 'may read', Write: 'may read and write' }

const NEW_MEMBER = {
  name: { label: 'Name of an account', value: '', plain: true, required: true },
  permission: { label: 'What it may do', value: 'Read' as Permission, options: PERMISSIONS },
}

export function MembersPage({ repositoryId: id }: { readonly repositoryId: number }) {
  const { value: home } = useResource((signal) => api().repositories.get(id, { signal }), [id])
  return (
    <Page trail={[DATA, [home?.name ?? '…', href(['repositories', id])]]} title="Members">
      <Members repositoryId={id} />
    </Page>
  )
}

/** The members of a repository. Its owner can change them; members can see each other. */
function Members({ repositoryId: id }: { readonly repositoryId: number }) {
  const resource = useResource(
    async (signal) => {
      const { repositories, account } = api()
      const [home, members, me] = await Promise.all([
        repositories.get(id, { signal }),
        repositories.members(id, { signal }),
        account.get({ signal }),
      ])
      return { home, members, me: me.name, owns: home.owner === me.name }
    },
    [id],
  )
  return (
    <Loaded
      of={resource}
      label="Loading the members"
      missing={() => (
        <Empty page icon="lock" title="The members can't be shown" action={ALL_DATA}>
          Only members of a private repository see who they are.
        </Empty>
      )}
    >
      {({ home, members, me, owns }) => (
        <Card
          title={plural(members.length, 'member')}
          hint={
            home.private
              ? `Only ${home.owner} and these accounts can read the repository ${home.name}, with all its datasets.`
              : `Everybody who has a key can read the repository ${home.name}, with all its datasets; ${home.owner} and the members with that right write in it.`
          }
        >
          <ul class="key-list">
            <li class="key-item">
              <strong>{home.owner}</strong>
              <span class="hint">owns the repository</span>
            </li>
            {members.map((member) => (
              <MemberLine key={member.account} {...{ member, me, owns, home }} />
            ))}
          </ul>
          {owns && (
            <LineForm
              action="Add"
              fields={NEW_MEMBER}
              onSubmit={async ({ name, permission }) => {
                await api().repositories.setMember(id, name, permission)
                announce(`${name} ${PERMISSIONS[permission]} now.`)
              }}
            />
          )}
        </Card>
      )}
    </Loaded>
  )
}

function MemberLine(props: {
  readonly member: Member
  readonly me: string
  readonly owns: boolean
  readonly home: Repository
}) {
  const { owns, home } = props
  const { account, permission } = props.member
  const isMe = account === props.me
  const { repositories } = api()
  const set = (next: Permission) => repositories.setMember(home.id, account, next)
  const change = (next: Permission) =>
    perform(
      () => set(next),
      `${account} ${PERMISSIONS[next]} now.`,
      () => set(permission),
    )
  const leave = () =>
    ask({
      title: isMe ? 'Leave the repository?' : `Remove ${account}?`,
      text: `${isMe ? 'You' : account} can no longer write here${home.private ? ', or read it' : ''}. The owner can undo this.`,
      action: isMe ? 'Leave' : 'Remove',
      danger: true,
      async onSubmit() {
        await repositories.removeMember(home.id, account)
        announce(`${account} is no longer a member.`, owns ? () => set(permission) : undefined)
      },
    })
  return (
    <li class="key-item">
      <strong>{account}</strong>
      {owns ? (
        <Select label={`What ${account} may do`} value={permission} options={PERMISSIONS} onValue={change} />
      ) : (
        <span class="hint">{PERMISSIONS[permission]}</span>
      )}
      {(owns || isMe) && <Button look="small" to={leave} says={isMe ? 'Leave' : 'Remove'} />}
    </li>
  )
}
