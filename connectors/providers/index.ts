import type { Connector } from '../connector.ts'
import { alphavantage } from './alphavantage/alphavantage.ts'
import { bankOfCanada } from './bank-of-canada.ts'
import { bea } from './bea.ts'
import { bls } from './bls.ts'
import { census } from './census.ts'
import { dbnomics } from './dbnomics.ts'
import { eia } from './eia.ts'
import { frankfurter } from './frankfurter.ts'
import { fred } from './fred.ts'
import { nasdaq } from './nasdaq/nasdaq.ts'
import { abs } from './sdmx/abs.ts'
import { bis } from './sdmx/bis.ts'
import { bundesbank } from './sdmx/bundesbank.ts'
import { ecb } from './sdmx/ecb.ts'
import { eurostat } from './sdmx/eurostat.ts'
import { ilo } from './sdmx/ilo.ts'
import { imf } from './sdmx/imf.ts'
import { insee } from './sdmx/insee.ts'
import { istat } from './sdmx/istat.ts'
import { norgesBank } from './sdmx/norges-bank.ts'
import { oecd } from './sdmx/oecd.ts'
import { undata } from './sdmx/undata.ts'
import { unicef } from './sdmx/unicef.ts'
import { sec } from './sec.ts'
import { statcan } from './statcan/statcan.ts'
import { usTreasury } from './us-treasury/us-treasury.ts'
import { worldbank } from './worldbank.ts'

/** All providers, in the order in which they are listed. A new one is a file beside this one and a line here. */
export const connectors: readonly Connector[] = [
  fred,
  bls,
  worldbank,
  ecb,
  oecd,
  eurostat,
  imf,
  bis,
  norgesBank,
  ilo,
  dbnomics,
  bankOfCanada,
  alphavantage,
  nasdaq,
  usTreasury,
  statcan,
  frankfurter,
  bundesbank,
  insee,
  abs,
  istat,
  unicef,
  undata,
  eia,
  bea,
  census,
  sec,
]
