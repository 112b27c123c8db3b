import type { Connector } from '../connector.ts'
import { alphavantage } from './alphavantage.ts'
import { bankOfCanada } from './bank-of-canada.ts'
import { bea } from './bea.ts'
import { bls } from './bls.ts'
import { census } from './census.ts'
import { dbnomics } from './dbnomics.ts'
import { eia } from './eia.ts'
import { frankfurter } from './frankfurter.ts'
import { fred } from './fred.ts'
import { nasdaq } from './nasdaq.ts'
import * as pxweb from './pxweb.ts'
import * as sdmx from './sdmx.ts'
import { sec } from './sec.ts'
import { statcan } from './statcan.ts'
import { usTreasury } from './us-treasury.ts'
import { worldbank } from './worldbank.ts'

/** All providers, in the order in which they are listed. A new one is a file beside this one and a line here. */
export const connectors: readonly Connector[] = [
  fred,
  bls,
  worldbank,
  sdmx.ecb,
  sdmx.oecd,
  sdmx.eurostat,
  sdmx.imf,
  sdmx.bis,
  sdmx.norgesBank,
  sdmx.ilo,
  dbnomics,
  bankOfCanada,
  alphavantage,
  nasdaq,
  usTreasury,
  statcan,
  frankfurter,
  sdmx.bundesbank,
  sdmx.insee,
  sdmx.abs,
  sdmx.istat,
  sdmx.unicef,
  sdmx.undata,
  eia,
  bea,
  census,
  sec,
  pxweb.scb,
  pxweb.ssb,
  pxweb.statfin,
  pxweb.statice,
  pxweb.statEe,
  pxweb.statLv,
  pxweb.surs,
  pxweb.bfs,
]
