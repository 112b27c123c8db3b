import { withOptions } from '../../../client/errors.ts'
import type { Interval, NewSource, Repository, Source } from '../../../client/index.ts'
import { api } from '../api.ts'
import { href, navigate } from '../router.ts'
import { ask } from '../ui/form.tsx'
import { perform } from '../ui/toast.tsx'
import { chosenRepository, type Homes, newDatasetFields, store } from './storing.ts'

const INTERVALS = {
  hour: 'every hour',
  day: 'every day',
  week: 'every week',
  month: 'every month',
  release: 'after each announced release',
}

/** What the control of the options of a followed file is called. */
const OPTIONS = 'Options of the file'
const CONFIRM = 'Take fewer than half of the rows, or none'

const isAddress = (text: string) => /^https?:/.test(text)

const TITLE = { title: 'Follow series or a file', action: 'Follow', busyAction: 'Fetching…' }

/** What a form asks about series or a file, as they are followed now. */
function fieldsOf(source: Source | undefined) {
  return {
    series: {
      label: 'Series, or the address of a file',
      value: source?.url ?? source?.series.join(' ') ?? '',
      required: true,
      plain: true,
      hint: 'Ids with their provider, as fred/GDP, separated by blanks; or https://…/x.csv.',
    },
    every: { label: 'How often', value: (source?.every ?? 'day') as Interval, options: INTERVALS },
    options: {
      label: OPTIONS,
      value: String(new URLSearchParams(source?.options ?? {})),
      plain: true,
      when: ({ series }: Readonly<Record<string, unknown>>) => isAddress(String(series)),
      hint: 'Of an upload, as decimal=,&columns=replace; those that are not given are chosen by the file.',
    },
    start: {
      label: 'First date',
      value: source?.start ?? '',
      hint: 'Of series, as 2000-01-31; empty for all.',
    },
  }
}

type Answers = { readonly [Name in keyof ReturnType<typeof fieldsOf>]: string }

/** The source that was asked for. */
function sourceOf({ series, every, start, options }: Answers, before?: Source): NewSource {
  const named = series.trim()
  const interval = every as Interval
  if (!isAddress(named)) return { series: named.split(/\s+/), start: start || null, every: interval }
  const isSame = before?.url === named
  // Those that were chosen by another file are not for this one.
  const isMeant = isSame || options !== String(new URLSearchParams(before?.options ?? {}))
  return {
    url: named,
    every: interval,
    ...(isSame && before.mode && { mode: before.mode }),
    ...(isMeant && { options: Object.fromEntries(new URLSearchParams(options)) }),
  }
}

/** Asks for what a dataset follows. Ids are separated by spaces, because some contain commas. */
export function follow(id: number, source: Source | undefined): void {
  ask({
    ...TITLE,
    fields: {
      ...fieldsOf(source),
      confirm: {
        label: CONFIRM,
        value: false,
        when: () => source?.lastError != null,
      },
    },
    onSubmit: ({ confirm, ...answers }) =>
      api().datasets.follow(id, { ...sourceOf(answers, source), confirm }),
  })
}

/** Fetches what a dataset follows again. */
export function refresh(id: number, source: Source): Promise<void> {
  const fields = Object.entries(fieldsOf(source)).map(([name, { value }]) => [name, value])
  return perform(
    async () => {
      const made = await api().datasets.follow(id, sourceOf(Object.fromEntries(fields), source))
      if (made.lastError !== null) throw new Error(lastError(made))
      return made
    },
    ({ lastRun }) => (lastRun === source.lastRun ? 'The refresh has begun.' : 'Refreshed.'),
  )
}

/** Asks for what a new dataset follows. It is made if that can be fetched. @param home its repository, if that is known */
export function followAnew(homes: Homes, home: Repository | undefined): void {
  const { name, home: choice } = newDatasetFields('', homes)
  ask({
    ...TITLE,
    // The repository of the address is the only one.
    fields: { ...fieldsOf(undefined), name, home: { ...choice, when: () => !home } },
    async onSubmit({ name, home: chosen, ...answers }) {
      const repositoryId = home?.id ?? (await chosenRepository(chosen))
      const { datasets } = api()
      const { id } = await store({ name, repositoryId }, async (id) => {
        const made = await datasets.follow(id, sourceOf(answers))
        if (made.lastError !== null && made.lastVersion === null)
          throw new Error(`${lastError(made)} No dataset was made.`)
        return datasets.get(id)
      })
      navigate(href(['datasets', id]))
    },
  })
}

/** Why the last refresh failed, with options named as a form asks for them. */
export function lastError({ lastError, hints }: Source): string {
  return withOptions(lastError ?? '', hints, (name, value) =>
    name === 'confirm' ? `“${CONFIRM}”` : `“${OPTIONS}: ${name}=${value}”`,
  )
}
