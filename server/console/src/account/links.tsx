import { api } from '../api.ts'
import { formatAge, formatDateTime } from '../format.ts'
import { Button } from '../ui/button.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Card } from '../ui/page.tsx'
import { announce } from '../ui/toast.tsx'
import { useResource } from '../use-resource.ts'

/** The links of the account that work without a key, to end them. */
export function Links() {
  const resource = useResource((signal) => api().account.listLinks({ signal }), [])
  const end = async (id: number) => {
    await api().account.deleteLink(id)
    announce('The link has ended.')
    resource[1]()
  }
  return (
    <Card title="Links without a key" hint="You make them where a dataset is shared.">
      <Loaded of={resource} label="Loading the links" lines={2}>
        {(links) => (
          <ul class="key-list">
            {links.length === 0 && <li class="shelf-empty">No links.</li>}
            {links.map(({ id, name, path, expiresAt, lastUsedAt }) => (
              <li key={id} class="key-item">
                <strong>{name ?? path.split('?', 1)[0]}</strong>
                <span class="hint">
                  until {formatDateTime(expiresAt)},{' '}
                  {lastUsedAt === null ? 'never used' : `used ${formatAge(lastUsedAt)}`}
                </span>
                <Button look="small" label={`End the link ${id}`} onClick={() => end(id)}>
                  End
                </Button>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  )
}
