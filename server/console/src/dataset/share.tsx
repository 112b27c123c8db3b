import { useState } from 'preact/hooks'
import type { Dataset, Format } from '../../../client/index.ts'
import { api } from '../api.ts'
import { formatDateTime } from '../format.ts'
import { CopyButton } from '../ui/copy.tsx'
import { LineForm } from '../ui/form.tsx'
import { Card } from '../ui/page.tsx'
import { type View, viewQuery } from '../view/view.ts'
import { Members } from './members.tsx'

const DAY = 86_400
const LIFETIMES = [
  ['300', 'five minutes'],
  [String(DAY), 'a day'],
  [String(7 * DAY), 'a week'],
  [String(365 * DAY), 'a year'],
] as const
const FORMATS = ['csv', 'xlsx', 'parquet', 'json'] as const

/** Who may read a dataset, and links that download its rows without a key. */
export function Share({ dataset, view }: { readonly dataset: Dataset; readonly view: View | undefined }) {
  const [made, setMade] = useState<{ readonly href: string; readonly expiresAt: string }>()
  return (
    <div class="share">
      <Card
        title="A link without a key"
        hint="Whoever has it downloads these rows in your name, which counts as your export. It ends when you lose the right to read them."
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
