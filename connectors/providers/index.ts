import type { Connector } from '../connector.ts'
import { alphavantage } from './alphavantage/alphavantage.ts'
import { bankOfCanada } from './bank-of-canada.ts'
import { bls } from './bls.ts'
import { dbnomics } from './dbnomics.ts'
import { frankfurter } from './frankfurter.ts'
import { fred } from './fred.ts'
import { nasdaq } from './nasdaq/nasdaq.ts'
import { bis } from './sdmx/bis.ts'
import { ecb } from './sdmx/ecb.ts'
import { eurostat } from './sdmx/eurostat.ts'
import { ilo } from './sdmx/ilo.ts'
import { imf } from './sdmx/imf.ts'
import { norgesBank } from './sdmx/norges-bank.ts'
import { oecd } from './sdmx/oecd.ts'
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
]
