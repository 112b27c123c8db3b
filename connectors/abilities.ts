import type { Connector } from './connector.ts'
import { ConnectorError, invalid } from './errors.ts'
import { connectors } from './providers/index.ts'
import type { SeriesQuery } from './transform/transform.ts'

/** @throws ConnectorError `invalid_option` if the provider does not keep what the query asks for */
export function requireHistory({ info, history }: Connector, { asOf, vintages }: SeriesQuery): void {
  const option = vintages === undefined ? 'asOf' : 'vintages'
  if ((asOf ?? vintages) === undefined || history?.includes(option)) return
  const others = connectors.filter((one) => one.history?.includes(option))
  const slugs = others.map(({ info }) => info.slug).join(', ')
  throw invalid(
    option === 'asOf'
      ? `${info.name} does not keep what it published earlier; of the providers ${slugs} do. Leave out asOf.`
      : `vintages are not available from ${info.name}; providers that have them: ${slugs}.`,
    info.slug,
  )
}

/** @throws ConnectorError `no_calendar`; `invalid_option` if the calendar does not say what changes a series */
export function requireCalendar({ info, calendar }: Connector, series: string | undefined): void {
  if (calendar && (series === undefined || calendar.of)) return
  const others = connectors.filter((one) => one.calendar && (series === undefined || one.calendar.of))
  const slugs = others.map((one) => one.info.slug).join(', ')
  if (calendar) {
    const sentence = `The calendar of ${info.name} does not say which series a release changes; those of ${slugs} do.`
    throw invalid(sentence, info.slug)
  }
  const sentence = `${info.name} publishes no calendar of releases for programs; providers that do: ${slugs}.`
  throw new ConnectorError('no_calendar', sentence, { provider: info.slug })
}
