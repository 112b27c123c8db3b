// The colours, fonts and the mark are those of the console.
import './theme.css'
import type { Theme } from 'vitepress'
// The reader's own fonts: those of the theme would be half of what is downloaded.
import theme from 'vitepress/theme-without-fonts'

export default {
  extends: theme,
  enhanceApp({ router, siteData }) {
    // The content of the theme's first page is in no landmark.
    router.onAfterRouteChange = (to) => {
      if (import.meta.env.SSR) return
      const content = document.getElementById('VPContent')
      content?.setAttribute('role', to === siteData.value.base ? 'main' : 'none')
    }
  },
} satisfies Theme
