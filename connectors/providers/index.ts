import type { Connector } from '../connector.ts'
import { bls } from './bls.ts'
import { fred } from './fred.ts'
import { worldbank } from './worldbank.ts'

/** All providers, in the order in which they are listed. A new one is a file beside this one and a line here. */
export const connectors: readonly Connector[] = [fred, bls, worldbank]
