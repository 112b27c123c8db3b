/**
 * What codes mean at a provider whose own code list differs from SDMX's cross-domain lists (CL_FREQ, CL_OBS_STATUS), so
 * that the letter alone would be read wrongly. `codes` is in our words: a frequency as in `Series.frequency` or a
 * status as in `Observation.status`.
 */
interface CodeList {
  readonly list: string
  readonly source: string
  readonly codes: Readonly<Record<string, string>>
}

const MEANINGS: Readonly<Record<string, Partial<Record<'frequency' | 'status', CodeList>>>> = {
  insee: {
    frequency: {
      list: 'FR1:CL_PERIODICITE',
      source: 'https://bdm.insee.fr/series/sdmx/codelist/FR1/CL_PERIODICITE',
      codes: {
        A: 'annual',
        S: 'semiannual',
        T: 'quarterly',
        Q: 'quarterly',
        B: 'bimonthly',
        M: 'monthly',
        I: 'irregular',
      },
    },
  },
  ecb: {
    frequency: {
      list: 'ECB:CL_FREQ',
      source: 'https://data-api.ecb.europa.eu/service/codelist/ECB/CL_FREQ',
      codes: { E: 'irregular' },
    },
  },
  eurostat: {
    frequency: {
      list: 'ESTAT:FREQ',
      source: 'https://ec.europa.eu/eurostat/api/dissemination/sdmx/2.1/codelist/ESTAT/FREQ',
      codes: {
        A: 'annual',
        S: 'semiannual',
        Q: 'quarterly',
        M: 'monthly',
        W: 'weekly',
        B: 'daily',
        D: 'daily',
        H: 'intraday',
        I: 'irregular',
        P: 'irregular',
      },
    },
  },
  ilo: {
    frequency: {
      list: 'ILO:CL_FREQ',
      source: 'https://sdmx.ilo.org/rest/codelist/ILO/CL_FREQ',
      codes: {
        A: 'annual',
        B: 'biennial',
        T: 'triennial',
        S: 'semiannual',
        Q: 'quarterly',
        M: 'monthly',
        I: 'irregular',
      },
    },
    status: {
      list: 'ILO:CL_OBS_STATUS',
      source: 'https://sdmx.ilo.org/rest/codelist/ILO/CL_OBS_STATUS',
      codes: {
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
  },
}

/** The meaning of a code in a provider's own list; undefined if the list is not told here, or has no such code. */
export function meaningOf(provider: string, kind: 'frequency' | 'status', code: string): string | undefined {
  const codes = MEANINGS[provider]?.[kind]?.codes ?? {}
  return Object.hasOwn(codes, code) ? codes[code] : undefined
}
