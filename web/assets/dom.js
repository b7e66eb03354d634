// Elements and text.

// el makes an element. Functions among the attributes listen to the event of their name;
// false, null and undefined leave an attribute or a child out.
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === 'function') element.addEventListener(key.replace(/^on/, ''), value);
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((c) => c !== false && c !== null && c !== undefined));
  return element;
}

// update makes the rows of a table body those given. Rows are told apart by their data-key; cells
// that have not changed stay, so that nobody's click goes astray, and what has the focus is
// found again by its data-focus.
export function update(body, rows) {
  const focus = body.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
  const old = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  const next = rows.map((row) => {
    const kept = old.get(row.dataset.key);
    if (!kept) return row;
    [...row.cells].forEach((cell, i) => {
      if (!cell.isEqualNode(kept.cells[i])) kept.cells[i].replaceWith(cell);
    });
    return kept;
  });
  if (next.length !== body.rows.length || next.some((row, i) => row !== body.rows[i])) body.replaceChildren(...next);
  if (focus && !body.contains(document.activeElement)) body.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus();
}

// uniqueID makes ids for labels and descriptions.
export const uniqueID = (() => {
  let last = 0;
  return (prefix) => `${prefix}-${++last}`;
})();

// tableOf makes a table that scrolls sideways where it must. Columns are {label, number, hint};
// rows are lists of cells, each text, a node or {text, class}. The first cell is the row's header.
export function tableOf(caption, columns, rows, attributes = {}) {
  const cell = (value, column, index) => {
    const plain = value !== null && typeof value === 'object' && !(value instanceof Node) && !Array.isArray(value);
    const { text, class: extra = '' } = plain ? value : { text: value };
    const kind = [column.number ? 'number' : '', extra].join(' ').trim();
    return index === 0 ? el('th', { scope: 'row', class: kind || null }, text) : el('td', { class: kind || null }, text);
  };
  const head = el('tr', {}, columns.map((c) => el('th', { scope: 'col', class: c.number ? 'number' : null, title: c.hint }, c.label)));
  const body = rows.map((row) => el('tr', {}, row.map((value, i) => cell(value, columns[i], i))));
  return el(
    'div',
    { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': caption },
    el('table', attributes, el('caption', { class: 'visually-hidden' }, caption), el('thead', {}, head), el('tbody', {}, body)),
  );
}

// announce tells readers of the screen what has changed.
export function announce(text) {
  const status = document.getElementById('status');
  if (status && status.textContent !== text) status.textContent = text;
}

// save offers text as a file.
export function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  el('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
