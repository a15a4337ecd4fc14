// Looks at a page as a browser shows it and writes what is wrong with it into #audit, a fault a line. A test appends it to a page.
for (const d of document.querySelectorAll('details')) d.open = true
const faults = []
const numbers = (s) => (s.match(/[\d.]+/g) || []).map(Number)
const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4
const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b)
const contrast = (a, b) => {
  const [hi, lo] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (hi + 0.05) / (lo + 0.05)
}
const behind = (el) => {
  for (; el; el = el.parentElement) {
    const b = numbers(getComputedStyle(el).backgroundColor)
    if (b.length === 3 || b[3] > 0) return b
  }
  return [255, 255, 255]
}
const shown = (el) => el.getClientRects().length > 0 && getComputedStyle(el).visibility === 'visible'
const name = (el) => `${el.tagName.toLowerCase()}.${el.getAttribute('class') || ''} "${el.textContent.trim().slice(0, 40)}"`

// Text can be read: 4.5 to 1, as WCAG 2 asks of AA.
const seen = new Set()
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
while (texts.nextNode()) {
  const el = texts.currentNode.parentElement
  if (!texts.currentNode.textContent.trim() || el.closest('script,style,title,#audit') || !shown(el)) continue
  const style = getComputedStyle(el)
  const ratio = contrast(numbers(el.closest('svg') ? style.fill : style.color), behind(el))
  const key = ratio.toFixed(2) + style.color + behind(el)
  if (ratio < 4.5 && !seen.has(key)) faults.push(`contrast ${ratio.toFixed(2)}: ${name(el)}`)
  seen.add(key)
}

// Whoever uses the keyboard reaches all that can be used, in the order that is seen, and sees where it is.
let above = -Infinity
for (const el of document.querySelectorAll('a[href],button,summary,input')) {
  if (!shown(el)) continue
  el.focus()
  if (document.activeElement !== el) faults.push(`no focus: ${name(el)}`)
  if (el.tabIndex < 0) faults.push(`not in the order of the tab key: ${name(el)}`)
  if (getComputedStyle(el).outlineStyle === 'none') faults.push(`focus is not seen: ${name(el)}`)
  const top = el.getBoundingClientRect().top + scrollY
  if (top < above - 100) faults.push(`the tab key goes back up: ${name(el)}`)
  above = top
}
document.activeElement?.blur()
if (document.querySelector('[onclick],[tabindex]:not([tabindex="0"])')) faults.push('something is used that the keyboard does not reach')

// Landmarks and names.
if (document.querySelectorAll('main').length !== 1) faults.push('not one main')
if (document.querySelector('footer')?.parentElement !== document.body) faults.push('the footer is no landmark')
if (!document.documentElement.lang || !document.title) faults.push('no language or no title')
for (const el of document.querySelectorAll('section')) if (!el.getAttribute('aria-label')) faults.push(`a section without a name: ${name(el)}`)
for (const el of document.querySelectorAll('svg')) if (!el.getAttribute('aria-label')) faults.push('a drawing without a name')
for (const el of document.querySelectorAll('button,a,summary')) if (!el.textContent.trim()) faults.push('a control without a name')
const ids = [...document.querySelectorAll('[id]')].map((el) => el.id)
if (new Set(ids).size !== ids.length) faults.push('an id twice')
let level = 1
for (const el of document.querySelectorAll('h1,h2,h3,h4')) {
  if (+el.tagName[1] > level + 1) faults.push(`a heading leaves out a level: ${name(el)}`)
  level = +el.tagName[1]
}

// Nothing is wider than the screen, and no texts of a drawing overlap or are cut.
if (document.documentElement.scrollWidth > innerWidth) faults.push(`wider than the screen: ${document.documentElement.scrollWidth} > ${innerWidth}`)
for (const el of document.querySelectorAll('main *')) {
  if (el.closest('.wide') || el.closest('svg') || !shown(el)) continue
  if (el.getBoundingClientRect().right > innerWidth + 1) faults.push(`off the screen: ${name(el)}`)
}
for (const svg of document.querySelectorAll('svg')) {
  const boxes = [...svg.querySelectorAll('text')].filter(shown).map((el) => [el, el.getBoundingClientRect()])
  for (const [el, a] of boxes) {
    if (a.right > svg.getBoundingClientRect().right + 1) faults.push(`cut: ${name(el)}`)
    for (const [other, b] of boxes) {
      if (el !== other && a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2) faults.push(`overlap: ${name(el)} ${name(other)}`)
    }
  }
}
const out = document.createElement('pre')
out.id = 'audit'
out.textContent = faults.length ? faults.join('\n') : 'sound'
top.document.body.append(out) // the page may be in a frame as wide as a phone
