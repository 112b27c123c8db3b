/** Line icons on a grid of 16, in the colour of the surrounding text. */
const PATHS = {
  table: 'M2.5 3.5h11v9h-11zM2.5 6.5h11M6.5 6.5v6',
  columns: 'M3 3.5v9M6.5 6v6.5M10 4.5v8M13.5 8v4.5',
  plot: 'M2.5 2.5v11h11M5 10l2.5-3.5 2 1.5L13 4',
  download: 'M8 2.5v7.5M4.5 7 8 10.5 11.5 7M3 13.5h10',
  upload: 'M8 10.5V3M4.5 6.5 8 3l3.5 3.5M3 13.5h10',
  code: 'M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5',
  filter: 'M2.5 4h11M4.5 8h7M6.5 12h3',
  close: 'M4 4l8 8M12 4l-8 8',
  plus: 'M8 3v10M3 8h10',
  check: 'M3 8.5 6.5 12 13 4.5',
  more: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.5V8l2.5 1.5',
  up: 'M8 13V3.5M4 7.5l4-4 4 4',
  down: 'M8 3v9.5M4 8.5l4 4 4-4',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5 14 14',
  key: 'M8.3 8a2.8 2.8 0 1 1-5.6 0 2.8 2.8 0 0 1 5.6 0zM8.3 8H14v2.5M11.2 8v2',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9',
  moon: 'M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1z',
  lock: 'M4 7.5h8v6H4zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
  people:
    'M6 7.5a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6zM1.8 13c.3-2.3 2-3.6 4.2-3.6s3.9 1.3 4.2 3.6M10.5 3.2a2.2 2.2 0 0 1 0 4.1M12 9.8c1.3.5 2.1 1.6 2.3 3.2',
  folder: 'M2 4h4.5L8 5.5h6v7.5H2z',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9M7 7v4M9 7v4',
  edit: 'M3 13l.6-2.8 7.2-7.2 2.2 2.2-7.2 7.2z',
  out: 'M9.5 3H3.5v10h6M7 8h7M11.5 5.5 14 8l-2.5 2.5',
  link: 'M6.5 9.5l3-3M7 4.5l1.3-1.3a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5l-1.3 1.3a3 3 0 0 1-4.5-4.5L4.5 7',
  sum: 'M12 4.5V3H4l4.5 5L4 13h8v-1.5',
  external: 'M9.5 3H13v3.5M13 3 7.5 8.5M11.5 9.5V13H3V4.5h3.5',
  globe:
    'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c2 1.8 2.6 4 2.6 6S10 12.2 8 14M8 2C6 3.8 5.4 6 5.4 8S6 12.2 8 14',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.3V11M8 5v.3',
  warning: 'M8 2.5 14.5 13.5h-13zM8 6.5V10M8 11.7v.2',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}

/** The logo: planks in a herringbone pattern. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
      <g transform="translate(12 12) scale(4) translate(.354 -2.475) rotate(45)">
        <rect class="mark-a" x=".07" y=".07" width="2.86" height=".86" rx=".1" />
        <rect class="mark-b" x=".07" y="1.07" width=".86" height="2.86" rx=".1" />
        <rect class="mark-a" x="1.07" y="1.07" width="2.86" height=".86" rx=".1" />
        <rect class="mark-b" x="1.07" y="2.07" width=".86" height="2.86" rx=".1" />
      </g>
    </svg>
  )
}
