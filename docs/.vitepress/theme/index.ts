// The colours, fonts and the mark are those of the console.
import './theme.css'

// The reader's own fonts: those of the theme would be half of what is downloaded.
export { default } from 'vitepress/theme-without-fonts'
