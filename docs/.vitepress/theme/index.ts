// The reader's own fonts: those of the theme would be half of what is downloaded.
export { default } from 'vitepress/theme-without-fonts'
