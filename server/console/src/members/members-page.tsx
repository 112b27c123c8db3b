import { useEffect, useState } from 'preact/hooks'
import type { Member, Permission, Repository } from '../../../client/index.ts'
import { api, isStatus, messageOf } from '../api.ts'
import { plural } from '../format.ts'
import { href } from '../router.ts'
import { useAttempt } from '../ui/attempt.ts'
import { Confirm } from '../ui/confirm.tsx'
import { Empty, Failure, Loading } from '../ui/feedback.tsx'
import { Field, Select } from '../ui/field.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { announce } from '../ui/toast.tsx'
import { latest, useResource } from '../use-resource.ts'

const PERMISSIONS = [
  { value: 'Read', label: 'may read' },
  { value: 'Write', label: 'may read and write' },
] as const satisfies readonly { value: Permission; label: string }[]

/** The members of a repository. Its owner can change them; members can see each other. */
export function MembersPage(props: { readonly repositoryId: number }) {
  const { repositoryId: id } = props
  const [resource, again] = useResource(
    async (signal) => {
      const [home, members, me] = await Promise.all([
        api().repositories.get(id, { signal }),
        api().repositories.members(id, { signal }),
        api().account.get({ signal }),
      ])
      return { home, members, me: me.name }
    },
    [id],
  )
  const loaded = latest(resource)
  if (loaded) return <MembersView {...loaded} onChanged={again} />
  if (resource.state !== 'failed') return <Loading page label="Loading the members" lines={4} />
  if (!isStatus(resource.error, 403, 404)) return <Failure error={resource.error} onRetry={again} />
  return (
    <Empty page icon="lock" title="The members can't be shown">
      {messageOf(resource.error)}
    </Empty>
  )
}

function MembersView(props: {
  readonly home: Repository
  readonly members: readonly Member[]
  readonly me: string
  readonly onChanged: () => void
}) {
  const { home, members, me } = props
  const [leaving, setLeaving] = useState<Member>()
  const [problem, setProblem] = useState<unknown>()
  const owns = home.owner === me
  useEffect(() => {
    document.title = `Members of ${home.name} · Parquetry`
  }, [home.name])
  const change = async (member: Member, permission: Permission) => {
    setProblem(undefined)
    try {
      await api().repositories.setMember(home.id, member.account, permission)
      announce(`${member.account} ${labelOf(permission)} now.`)
    } catch (failure) {
      setProblem(failure)
    }
    props.onChanged()
  }
  return (
    <div class="page">
      <PageHead
        trail={[
          { label: 'Data', href: href([]) },
          { label: home.name, href: href(['repositories', home.id]) },
        ]}
        title="Members"
      >
        <p class="lede">
          {home.private
            ? `Only ${home.owner} and these accounts can read ${home.name}.`
            : `Everybody who has a key can read ${home.name}; ${home.owner} and the members with that right write in it.`}
        </p>
      </PageHead>
      {problem !== undefined && <Failure error={problem} />}
      <section class="card" aria-labelledby="members-list">
        <h2 id="members-list">{plural(members.length, 'member')}</h2>
        <ul class="key-list">
          <li class="key-item">
            <strong>{home.owner}</strong>
            <span class="hint">owns the repository</span>
          </li>
          {members.map((member) => (
            <li class="key-item" key={member.account}>
              <strong>{member.account}</strong>
              {owns ? (
                <Select
                  label={`What ${member.account} may do`}
                  hideLabel
                  value={member.permission}
                  options={PERMISSIONS}
                  onValue={(permission) => change(member, permission)}
                />
              ) : (
                <span class="hint">{labelOf(member.permission)}</span>
              )}
              {(owns || member.account === me) && (
                <button type="button" class="button button-small" onClick={() => setLeaving(member)}>
                  {member.account === me ? 'Leave' : 'Remove'}
                </button>
              )}
            </li>
          ))}
        </ul>
        {owns && <AddMember repositoryId={home.id} onAdded={props.onChanged} />}
      </section>
      {leaving && (
        <Confirm
          title={leaving.account === me ? `Leave ${home.name}?` : `Remove ${leaving.account}?`}
          text={`${leaving.account === me ? 'You' : leaving.account} can no longer write here${home.private ? ', or read it' : ''}. The owner can undo this.`}
          action={leaving.account === me ? 'Leave' : 'Remove'}
          onConfirm={async () => {
            await api().repositories.removeMember(home.id, leaving.account)
            announce(`${leaving.account} is no longer a member.`)
            setLeaving(undefined)
            props.onChanged()
          }}
          onClose={() => setLeaving(undefined)}
        />
      )}
    </div>
  )
}

function AddMember(props: { readonly repositoryId: number; readonly onAdded: () => void }) {
  const [name, setName] = useState('')
  const [permission, setPermission] = useState<Permission>('Read')
  const { busy, error, attempt } = useAttempt(async () => {
    await api().repositories.setMember(props.repositoryId, name.trim(), permission)
    announce(`${name.trim()} ${labelOf(permission)} now.`)
    setName('')
    props.onAdded()
  })
  return (
    <form class="member-form" onSubmit={attempt}>
      <Field
        label="Name of an account"
        value={name}
        onValue={setName}
        error={error}
        autocomplete="off"
        spellcheck={false}
      />
      <Select label="What it may do" value={permission} options={PERMISSIONS} onValue={setPermission} />
      <button type="submit" class="button button-primary" disabled={busy || name.trim() === ''}>
        Add
      </button>
    </form>
  )
}

function labelOf(permission: Permission): string {
  return PERMISSIONS.find(({ value }) => value === permission)!.label
}
