// biome-ignore-all lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reached by keys
import { useState } from 'preact/hooks'
import type { Question } from '../../../client/index.ts'
import { CopyButton } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { LANGUAGES, type Language, snippet } from './snippets.ts'

/** Shows code that requests the rows of the view, in three languages. */
export function CopyAs(props: {
  readonly datasetId: number
  readonly query: Question
  readonly onClose: () => void
}) {
  const [language, setLanguage] = useState<Language>('curl')
  const text = snippet(language, props.datasetId, props.query)
  const label = LANGUAGES.find(({ value }) => value === language)!.label
  return (
    <Dialog title="Copy as a request" wide onClose={props.onClose}>
      <div class="dialog-body">
        <p>
          The rows that you see, with this filter and order. Put your key into the environment variable{' '}
          <code>PARQUETRY_KEY</code>.
        </p>
        <div class="snippet-head">
          <Tabs label="Language" value={language} tabs={LANGUAGES} onValue={setLanguage} />
          <CopyButton text={text} what={`The ${label} lines are`} />
        </div>
        <section class="snippet" tabIndex={0} aria-label={`${label} lines`} id={`panel-${language}`}>
          <pre>
            <code>{text}</code>
          </pre>
        </section>
      </div>
    </Dialog>
  )
}
