import { useEffect, useState } from 'preact/hooks'
import type { Dataset, Repository } from '../../../client/index.ts'
import { api } from '../api.ts'
import { followAnew } from '../dataset/following.ts'
import { choicesOf, firstChoice } from '../dataset/storing.ts'
import { formatBytes, plural } from '../format.ts'
import { href } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { Empty, Failure, Progress } from '../ui/feedback.tsx'
import { Choices, Field, Select } from '../ui/field.tsx'
import { ALL_DATA, DATA, Page } from '../ui/page.tsx'
import { Loaded, useResource } from '../ui/resource.tsx'
import { DropZone } from './drop-zone.tsx'
import { datasetName, takeOver } from './formats.ts'
import { FilePreview, Problems } from './preview.tsx'
import { type Goal, type Reading, useChosen, useSending } from './upload.ts'

interface Destination {
  /** The repositories that may take a new dataset; the one of the address alone, if it has one. */
  readonly homes: readonly Repository[]
  /** Who uploads. */
  readonly account: string
  /** The repository of the address. */
  readonly home: Repository | undefined
  readonly target: Dataset | undefined
}

/** Uploads a file into a new or an existing dataset: choose it, check the preview, confirm. */
export function UploadPage(props: {
  readonly repositoryId?: number
  readonly datasetId?: number | undefined
}) {
  const { repositoryId, datasetId } = props
  const resource = useResource(
    async (signal) => {
      const { repositories, datasets, account: own } = api()
      const { name: account } = await own.get({ signal })
      const homes =
        repositoryId === undefined
          ? (await repositories.list({ signal })).filter(({ permission }) => permission === 'Write')
          : [await repositories.get(repositoryId, { signal })]
      const target = datasetId === undefined ? undefined : await datasets.get(datasetId, { signal })
      const source = target && (await datasets.source(target.id, { signal }))
      const home = repositoryId === undefined ? undefined : homes[0]
      return { homes, account, home, target, follows: source && (source.url ? 'a file' : 'series') }
    },
    [repositoryId, datasetId],
  )
  return (
    <Loaded
      of={resource}
      page
      label="Loading the repository"
      missing={() => <Empty page icon="folder" title="You can't upload here" action={ALL_DATA} />}
    >
      {({ follows, target, ...rest }) =>
        target && follows ? (
          <Empty
            page
            icon="table"
            title={`${target.name} follows ${follows}`}
            action={{ says: 'Go to the dataset', to: href(['datasets', target.id]) }}
          >
            Its rows come from there with each refresh. To add rows of your own, stop following first.
          </Empty>
        ) : (
          <UploadView {...rest} target={target} />
        )
      }
    </Loaded>
  )
}

function UploadView(destination: Destination) {
  const { home, target } = destination
  const upload = useChosen(target?.uploadOptions)
  const { chosen, refusal, choose } = upload
  useEffect(() => {
    const file = takeOver()
    if (file) choose(file)
  }, [])
  return (
    <Page
      trail={[
        DATA,
        ...(home ? [[home.name, href(['repositories', home.id])] as const] : []),
        ...(target ? [[target.name, href(['datasets', target.id])] as const] : []),
      ]}
      title={target ? `Add rows to ${target.name}` : 'New dataset'}
      intro={
        <p class="lede">
          {target
            ? 'If the file has an error, nothing changes. Downloads that are running get the old rows.'
            : 'Drop a file and look at what is in it. Nothing is stored until you confirm.'}
        </p>
      }
    >
      <DropZone file={chosen?.file} onFile={choose} />
      {refusal && <Failure error={new Error(refusal)} />}
      {!target && !chosen && (
        <div class="actions">
          <Button icon="globe" to={() => followAnew(destination, home)} says="Follow series or a file…" />
        </div>
      )}
      {chosen && <UploadForm {...destination} {...upload} chosen={chosen} />}
    </Page>
  )
}

function UploadForm(props: Destination & Reading) {
  const { homes, account, target, chosen, readAtFirst } = props
  const [goal, setGoal] = useState<Partial<Goal>>({})
  const { home = props.home ? String(props.home.id) : firstChoice(homes, account), mode = 'append' } = goal
  const set = (changes: Partial<Goal>) => setGoal((before) => ({ ...before, ...changes }))
  const { share, problems, wayOut, send, cancel, drop } = useSending()
  const name = goal.name ?? datasetName(chosen.file.name)
  const isReady = chosen.problems.length === 0 && (target !== undefined || name.trim() !== '')
  const existing = target && target.columns.length > 0 && mode !== 'columns' ? target.columns : undefined
  const action = !target ? 'Create the dataset' : mode === 'append' ? 'Add the rows' : 'Replace all rows'
  const begin = (accepted: Goal['accepted'] = {}) => {
    if (isReady) send(chosen, target, { name: name.trim(), home, mode, accepted })
  }
  const submit = (event: Event) => {
    event.preventDefault()
    begin()
  }
  return (
    <form class="upload-form" onSubmit={submit}>
      <FilePreview {...props} existing={existing} fixed={mode === 'columns'} />
      {target ? (
        <Choices
          {...existingRows(target)}
          value={mode}
          onValue={(next) => {
            set({ mode: next })
            const isOwn = next === 'columns'
            if (isOwn !== (mode === 'columns')) readAtFirst(isOwn)
          }}
        />
      ) : (
        <div class="line-form">
          <Field
            label="Name of the dataset"
            value={name}
            onValue={(name) => set({ name })}
            required
            maxLength={255}
          />
          {!props.home && (
            <Select
              label="Repository"
              value={home}
              options={choicesOf(homes)}
              onValue={(home) => set({ home })}
            />
          )}
        </div>
      )}
      <Problems problems={problems} />
      {share !== undefined ? (
        <Running share={share} bytes={chosen.file.size} onCancel={cancel} />
      ) : wayOut ? (
        <div class="actions">
          <Button look="primary" to={() => begin(wayOut.accepted)} says={wayOut.says} />
          <Button to={drop} says="Cancel" />
        </div>
      ) : (
        <div class="actions">
          <Button submit look="primary" disabled={!isReady} says={action} />
        </div>
      )}
    </form>
  )
}

function existingRows(target: Dataset) {
  const rows = plural(target.rowCount ?? 0, 'row')
  return {
    label: 'What to do with the existing rows',
    options: [
      { value: 'append', label: 'Keep them', note: 'the new rows are added after them' },
      { value: 'replace', label: 'Replace them', note: `the file replaces ${rows}` },
      { value: 'columns', label: 'Replace columns too', note: 'the file replaces both rows and columns' },
    ],
  } as const
}

function Running(props: { readonly share: number; readonly bytes: number; readonly onCancel: () => void }) {
  const { share, bytes } = props
  return (
    <div class="running">
      <Progress label="Upload" share={share < 1 ? share : undefined} />
      <p class="figures" role="status">
        {share < 1
          ? `${formatBytes(share * bytes)} of ${formatBytes(bytes)} sent`
          : 'Sent. Checking every row and storing them…'}
      </p>
      <Button to={props.onCancel} says="Cancel the upload" />
    </div>
  )
}
