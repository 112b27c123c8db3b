import { lookup } from 'node:dns'
import { BlockList, isIP } from 'node:net'

/** The networks of the IANA IPv4 Special-Purpose Address Registry, and multicast, that aren't reached over the internet. */
const IPV4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
  '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4'

/**
 * All but the global unicast addresses 2000::/3 (RFC 4291), and of those the special ones in IANA's registry: protocols,
 * documentation, and 6to4, which contains IPv4 addresses.
 */
const IPV6 = '::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20'

/** A list of its own for each family: in a common one, a rule for IPv4-mapped addresses matches all of IPv4. */
const SPECIAL = { ipv4: new BlockList(), ipv6: new BlockList() } as const
for (const [family, networks] of [['ipv4', IPV4] as const, ['ipv6', IPV6] as const]) {
  for (const network of networks.split(' ')) {
    const [address, bits] = network.split('/') as [string, string]
    SPECIAL[family].addSubnet(address, Number(bits), family)
  }
}

/** Whether an address isn't one of the internet: private, of this machine, of the link, or for another special use. */
export function isPrivate(address: string): boolean {
  const version = isIP(address)
  if (version === 0) return true
  const family = version === 6 ? 'ipv6' : 'ipv4'
  return SPECIAL[family].check(address, family)
}

/** How names become addresses, and which addresses are private. */
export interface Network {
  readonly lookup: typeof lookup
  readonly isPrivate: (address: string) => boolean
}

export const INTERNET: Network = { lookup, isPrivate }
