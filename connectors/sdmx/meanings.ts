/**
 * What codes mean at a provider whose own code list differs from SDMX's cross-domain lists (CL_FREQ, CL_OBS_STATUS), so
 * that the letter alone would be read wrongly or not at all: in our words, a frequency as in `Series.frequency` or a
 * status as in `Observation.status`.
 */
const MEANINGS: Readonly<
  Record<string, Partial<Record<'frequency' | 'status', Readonly<Record<string, string>>>>>
> = {
  // https://bdm.insee.fr/series/sdmx/codelist/FR1/CL_PERIODICITE
  insee: { frequency: { T: 'quarterly', B: 'bimonthly', I: 'irregular' } },
  // https://data-api.ecb.europa.eu/service/codelist/ECB/CL_FREQ
  ecb: { frequency: { E: 'irregular' } },
  // https://ec.europa.eu/eurostat/api/dissemination/sdmx/2.1/codelist/ESTAT/FREQ
  eurostat: { frequency: { B: 'daily', H: 'intraday', I: 'irregular', P: 'irregular' } },
  ilo: {
    // https://sdmx.ilo.org/rest/codelist/ILO/CL_FREQ
    frequency: { B: 'biennial', T: 'triennial', I: 'irregular' },
    // https://sdmx.ilo.org/rest/codelist/ILO/CL_OBS_STATUS
    status: {
      A: 'adjusted',
      L: 'computed',
      M: 'model-based',
      N: 'not available',
      R: 'real value',
      S: 'not significant',
      X: 'not applicable',
      Z: 'non-official estimate',
    },
  },
}

/** The meaning of a code in a provider's own list; undefined if the list is not told here, or has no such code. */
export function meaningOf(provider: string, kind: 'frequency' | 'status', code: string): string | undefined {
  const codes = MEANINGS[provider]?.[kind] ?? {}
  return Object.hasOwn(codes, code) ? codes[code] : undefined
}
