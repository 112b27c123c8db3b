import { useState } from 'preact/hooks'
import type { Dataset, Format } from '../../../client/index.ts'
import { api } from '../api.ts'
import { formatDateTime } from '../format.ts'
import { Members } from '../members/members-page.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { LineForm } from '../ui/form.tsx'
import { Card } from '../ui/page.tsx'
import { type View, viewQuery } from '../view/view.ts'

const DAY = 86_400
const LIFETIMES = [
  { value: '300', label: 'five minutes' },
  { value: String(DAY), label: 'a day' },
  { value: String(7 * DAY), label: 'a week' },
  { value: String(365 * DAY), label: 'a year' },
]
const FORMATS = ['csv', 'xlsx', 'parquet', 'json'] as const

/** Who may read a dataset, the address of what is seen, and links that work without a key. */
export function Share({ dataset, view }: { readonly dataset: Dataset; readonly view: View | undefined }) {
  return (
    <div class="share">
      <Ticket dataset={dataset} view={view} />
      <Members repositoryId={dataset.repositoryId} />
    </div>
  )
}

/** Makes a link that downloads the rows without a key. */
function Ticket({ dataset, view }: Parameters<typeof Share>[0]) {
  const [made, setMade] = useState<{ readonly href: string; readonly expiresAt: string }>()
  return (
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
          const { url, expiresAt } = await api().datasets.link(
            dataset.id,
            format,
            view ? viewQuery(view) : {},
            { expiresIn: Number(lifetime) },
          )
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
  )
}
