import { render } from 'preact'
import { App } from './app.tsx'
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import './styles/feedback.css'
import './styles/overlays.css'
import './styles/frame.css'
import './styles/pages.css'
import './styles/upload.css'
import './styles/providers.css'
import './styles/dataset.css'
import './styles/filter.css'
import './styles/profile.css'
import './styles/plot.css'
import './styles/grid.css'
import { restoreTheme } from './theme.ts'

restoreTheme()
render(<App />, document.getElementById('app')!)
performance.mark('parquetry:interactive')
