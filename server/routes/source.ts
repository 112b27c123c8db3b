import { empty, errors, json } from '../openapi/describe.ts'
import { NEW_SOURCE, SOURCE } from '../records/sources.ts'
import type { Services } from '../services.ts'
import { callerOf } from '../sources/caller.ts'
import { checkedSource, providersOf } from '../sources/wanted.ts'
import { datasetFor, type Routes, shown } from './routes.ts'

const GET_SOURCE = {
  operationId: 'getSource',
  summary: 'Get the series or the file that a dataset follows',
  response: { 200: json(SOURCE, 'The source.') },
} as const

const SET_SOURCE = {
  operationId: 'setSource',
  summary: 'Make a dataset follow series, or a file at an address',
  description:
    'A file (`url`) is fetched again on the schedule, in any format of an upload. Bytes that have not changed make ' +
    'no version, and if it can not be fetched or read, the rows stay and `lastError` says why. So they do if it has ' +
    'no rows, or fewer than half of those that there are, or no value in a column that most rows have one in; the same ' +
    'holds for the values of each series. If that is ' +
    'right, send the source again with `confirm`. ' +
    'The series are fetched at once and then on the schedule, with your saved keys and within the limits of the ' +
    'providers. A new version is created only if something changed. The columns are `series_id`, `name`, `unit`, ' +
    '`frequency`, `date`, `period`, `value` and `status`; `time` takes the place of `date` where a series has a ' +
    'time of day. The dataset must be empty or hold rows of series; until the source is deleted, it accepts no ' +
    'other rows. The response waits up to ten seconds for the first refresh.',
  body: NEW_SOURCE,
  response: {
    200: json(SOURCE, 'The source. Its first refresh has ended or is still running.'),
    ...errors(402, 409),
  },
} as const

const DELETE_SOURCE = {
  operationId: 'deleteSource',
  summary: 'Stop following series or a file; the rows stay',
  response: { 204: empty('The dataset no longer follows anything.') },
} as const

export function sourceRoutes(app: Routes, services: Services): void {
  const { config, engine, refresher, sources } = services

  app.get('/datasets/:id/source', { schema: GET_SOURCE }, async (request) => {
    const { record, right } = await datasetFor(request, services, 'Read')
    return shown(await sources.record(record.id, engine, request.account.id), right)
  })

  app.put('/datasets/:id/source', { schema: SET_SOURCE }, async (request) => {
    const { record } = await datasetFor(request, services, 'Write')
    const { account, body } = request
    const source = await checkedSource(
      record,
      body,
      config,
      services.connectors,
      await sources.get(record.id),
    )
    const { signal } = new AbortController()
    for (const slug of providersOf(source.series)) await callerOf(services, account, slug, signal)
    const { confirm = false } = body
    await refresher.followNow({ datasetId: record.id, accountId: account.id, ...source }, confirm)
    return sources.record(record.id, engine)
  })

  app.delete('/datasets/:id/source', { schema: DELETE_SOURCE }, async (request, reply) => {
    const { record } = await datasetFor(request, services, 'Write')
    await sources.remove(record.id)
    return reply.code(204).send()
  })
}
