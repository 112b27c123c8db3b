// biome-ignore-all lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reached by keys
import { useState } from 'preact/hooks'
import type { Dataset, Repository } from '../../../client/index.ts'
import { api } from '../api.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton, saveBlob } from '../ui/copy.tsx'
import { Check } from '../ui/field.tsx'
import { Card } from '../ui/page.tsx'
import { announce, complain } from '../ui/toast.tsx'
import { type View, viewQuery } from '../view/view.ts'
import { snippets } from './snippets.ts'

/** How to read a dataset in other programs, each with its address filled in. */
export function Connect(props: {
  readonly dataset: Dataset
  readonly view: View | undefined
  readonly repository: Repository | undefined
}) {
  const { dataset, view, repository } = props
  const query = view ? viewQuery(view) : {}
  const isNarrowed = Object.values(query).some((value) => value !== undefined)
  const [asSeen, setAsSeen] = useState(isNarrowed)
  const open = async (kind: 'pbids' | 'odc') => {
    const text = await api().datasets.connectionFile(dataset.id, kind)
    saveBlob(new Blob([text]), `${dataset.name}.${kind}`)
    announce(`Open ${dataset.name}.${kind}; it asks for your key as the user name.`)
  }
  const parts = snippets(dataset, asSeen ? query : {}, repository?.name ?? '')
  return (
    <div class="connect">
      <p>
        Put your key into the environment variable <code>PARQUETRY_KEY</code>. For others, make{' '}
        <a href="#/account">a key of its own</a> that only reads.
      </p>
      {isNarrowed && (
        <Check checked={asSeen} onChecked={setAsSeen}>
          Only the rows and columns that you see, in their order
        </Check>
      )}
      <div class="connect-grid">
        {parts.map(({ title, note, text, file }) => (
          <Card
            key={title}
            title={title}
            hint={note}
            head={
              <span class="actions">
                {file && (
                  <Button
                    icon="download"
                    look="small"
                    to={() => open(file).catch(complain)}
                    says={`.${file}`}
                  />
                )}
                <CopyButton text={text} what={`The text for ${title} is`} />
              </span>
            }
          >
            <section class="snippet" tabIndex={0} aria-label={`Text for ${title}`}>
              <pre>
                <code>{text}</code>
              </pre>
            </section>
          </Card>
        ))}
      </div>
    </div>
  )
}
