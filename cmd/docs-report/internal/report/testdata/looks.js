// What the tests ask a page in the browser. Each function returns something that JSON can hold.
const look = (() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const isShown = (e) => e.checkVisibility();
  const textOf = (e) => e.textContent.trim();
  const start = (e) => e.outerHTML.slice(0, 80);

  const parse = (color) => (color.match(/[\d.]+/g) || []).map(Number);

  // light is the relative luminance of the WCAG.
  const light = (rgb) => rgb.slice(0, 3)
    .map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);

  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const color = parse(getComputedStyle(e).backgroundColor);
      if (color.length && color[3] !== 0) return color;
    }
    return [255, 255, 255];
  };

  const contrastOf = (e) => {
    const style = getComputedStyle(e);
    const a = light(parse(e instanceof SVGElement ? style.fill : style.color));
    const b = light(behind(e));
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };

  const chart = () => all('#chart .chart').find(isShown);
  const numbers = (text) => text.trim().split(/\s+/).map((point) => point.split(',').map(Number));

  return {
    // illegible lists texts whose contrast to their background is below 4.5.
    illegible() {
      const bad = [];
      let seen = 0;
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let node; (node = walk.nextNode());) {
        const e = node.parentElement;
        if (!node.textContent.trim() || e.closest('script, .unseen') || !isShown(e)) continue;
        seen++;
        const contrast = contrastOf(e);
        if (contrast < 4.5) bad.push(node.textContent.trim() + ' ' + contrast.toFixed(2));
      }
      return seen < 100 ? ['only ' + seen + ' texts'] : bad;
    },

    // tooWide lists what reaches beyond the screen.
    tooWide: (width) => all('body *:not(script, .unseen)')
      .filter((e) => isShown(e) && !e.closest('#fixes thead') && e.getBoundingClientRect().right > width + 0.5)
      .map(start),

    // smallTargets lists what a finger may miss.
    smallTargets: () => all('a, button, input, summary, select').filter(isShown)
      .map((e) => [e, e.getBoundingClientRect()])
      .filter(([, box]) => box.width < 44 || box.height < 44)
      .map(([e, box]) => `${start(e)} ${box.width} x ${box.height}`),

    texts: (selector) => all(selector).filter(isShown).map(textOf),
    count: (selector) => all(selector).length,
    openAll: () => all('details').forEach((d) => { d.open = true; }),
    width: () => document.documentElement.scrollWidth,
    isDark: () => Number(parse(getComputedStyle(document.body).color)[0]) > 128,
    bottomOf: (selector) => document.querySelector(selector).getBoundingClientRect().bottom,
    style: (selector, name) => getComputedStyle(document.querySelector(selector))[name],

    tallSections: () => all('main > section, main > .pair')
      .filter((e) => e.getBoundingClientRect().height > innerHeight)
      .map((e) => textOf(e).slice(0, 40) + ' ' + e.getBoundingClientRect().height),

    // focused names what has the focus.
    focused() {
      const e = document.activeElement;
      return e.id || (e.tagName === 'BODY' ? 'BODY' : textOf(e));
    },
    outlineOfFocused: () => getComputedStyle(document.activeElement).outlineStyle,

    unnamedDrawings: () => all('svg')
      .filter((e) => e.ariaHidden !== 'true')
      .filter((e) => !(e.role === 'img' && document.getElementById(e.getAttribute('aria-labelledby'))))
      .map(start),
    unlabeledInputs: () => all('input').filter((e) => e.labels.length === 0).map((e) => e.id),
    doubleIds: () => all('[id]').map((e) => e.id).filter((id, i, ids) => ids.indexOf(id) !== i),

    // numbersOfTable returns what the chart has to say of each day.
    numbersOfTable: () => all('#numbers tbody tr').map((row) => {
      const [day, humans, ais] = [...row.cells].map(textOf);
      return humans === '–' ? `${day}: nothing is loaded` : `${day}: ${humans} humans, ${ais} AIs`;
    }),

    // pointed returns what the chart says if one points at a day, each at another spot of its place.
    pointed() {
      chart().scrollIntoView({ block: 'center' });
      return [...chart().querySelectorAll('[data-day]')].map((e, i) => {
        const box = e.getBoundingClientRect();
        const x = [box.left + 0.6, (box.left + box.right) / 2, box.right - 0.6][i % 3];
        const y = box.top + box.height * (i % 5 + 1) / 6;
        return document.elementFromPoint(x, y).querySelector('title')?.textContent;
      });
    },

    // shapes returns the points of the lines and areas of a class, each in the order of the page.
    shapes: (selector) => [...chart().querySelectorAll(selector)].map((e) => numbers(e.getAttribute('points'))),

    // topOfPanel returns the height of the topmost line of the grid below a panel's title.
    topOfPanel(title) {
      const text = [...chart().querySelectorAll('.title')].find((e) => e.textContent.startsWith(title));
      const below = [...chart().querySelectorAll('.grid')].map((e) => Number(e.getAttribute('y1')))
        .filter((y) => y >= Number(text.getAttribute('y')));
      return Math.min(...below);
    },

    // drawnAt lists what is drawn of humans and AIs at the place of a day, between its edges.
    drawnAt(day) {
      const place = chart().querySelector(`[data-day="${day}"]`);
      const { left, right } = place.getBoundingClientRect();
      return [...chart().querySelectorAll('.human, .ai')].filter((e) => {
        if (e.tagName === 'text' || !isShown(e)) return false;
        const box = e.getBoundingClientRect();
        const line = e.tagName === 'circle' ? 0 : 2; // its width
        return box.left + line < right - 0.1 && box.right - line > left + 0.1;
      }).map((e) => e.getAttribute('class'));
    },
  };
})();
