import type { Category, Limit, ProviderInfo, SeriesInfo } from './connector.ts'

/** The description of a provider. Where it says nothing else, the provider is free, needs no key and publishes no limits. */
export function providerInfo(
  given: Omit<ProviderInfo, 'tier' | 'key' | 'limits'> &
    Partial<Pick<ProviderInfo, 'tier' | 'key' | 'limits'>>,
): ProviderInfo {
  return { tier: 'free', key: 'none', limits: { windows: [] }, ...given }
}

export function rate(requests: number, perSeconds: number): Limit {
  return { requests, perSeconds }
}

/** A category; `series` says whether series are directly below it. */
export function category(path: string, name: string, description = '', series = true): Category {
  return { path, name, description, series }
}

/** Categories without a description: for each path its name. */
export function categories(names: Readonly<Record<string, string>>, series: boolean): Category[] {
  return Object.entries(names).map(([path, name]) => category(path, name, '', series))
}

/** A series in a list; null for what the provider doesn't say there. */
export function listed(series: Pick<SeriesInfo, 'series_id' | 'name'> & Partial<SeriesInfo>): SeriesInfo {
  return { frequency: null, unit: null, start: null, end: null, ...series }
}
