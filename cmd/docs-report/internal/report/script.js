'use strict';
(() => {
  const $ = (id) => document.getElementById(id);

  const table = $('pages');
  if (!table) return;
  const groups = [...table.tBodies];
  const rowsOf = (group) => [...group.rows].slice(1); // the first names the group
  const rows = groups.flatMap(rowsOf);
  const sectionOf = new Map(rows.map((row) => [row, row.parentElement]));

  // On a phone the rows are laid out as a grid, and remain rows to a screen reader.
  table.setAttribute('role', 'table');
  for (const group of [table.tHead, ...groups]) group.setAttribute('role', 'rowgroup');
  for (const row of table.rows) {
    row.setAttribute('role', 'row');
    for (const cell of row.cells) cell.setAttribute('role', { col: 'columnheader', row: 'rowheader', rowgroup: 'rowheader' }[cell.scope] || 'cell');
  }

  const button = (cell, onClick) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...cell.childNodes);
    cell.append(button);
    button.addEventListener('click', onClick);
    return button;
  };

  // Sections of a large site are folded.
  const fold = (group, folded) => {
    group.classList.toggle('folded', folded);
    group.querySelector('button').setAttribute('aria-expanded', String(!folded));
  };
  for (const group of groups) {
    button(group.rows[0].cells[0], () => fold(group, !group.classList.contains('folded')));
    fold(group, rows.length > 25 && group !== groups[0]);
  }

  // Sorting sorts all pages, and so takes them out of their sections.
  const byReaders = rows.slice();
  const flat = table.createTBody();
  flat.setAttribute('role', 'rowgroup');
  const grouped = $('grouped');
  const regroup = () => {
    table.classList.toggle('flat', !grouped.checked);
    if (!grouped.checked) {
      flat.append(...rows);
      return;
    }
    for (const row of byReaders) sectionOf.get(row).append(row);
    heads.forEach((head) => head.removeAttribute('aria-sort'));
    heads[humans].setAttribute('aria-sort', 'descending');
  };
  grouped.addEventListener('change', () => { regroup(); apply(); });

  // Numbers are sorted as numbers, and “New” comes above all of them.
  const value = (row, column) => {
    const text = row.cells[column].textContent.trim().replace(/,/g, '');
    if (column === 0) return text;
    if (text === 'new') return Infinity;
    if (text === 'about the same') return 0;
    if (text.startsWith('×')) return (parseFloat(text.slice(1)) - 1) * 100;
    const number = parseFloat(text.replace('−', '-').replace(/[+±]/, ''));
    return Number.isNaN(number) ? -Infinity : number;
  };
  const words = new Intl.Collator('en', { numeric: true });
  const heads = [...table.tHead.rows[0].cells];
  const humans = heads.findIndex((head) => head.hasAttribute('aria-sort'));
  heads.forEach((head, column) => {
    button(head, () => {
      const now = head.getAttribute('aria-sort');
      const order = now === 'descending' || (!now && column === 0) ? 'ascending' : 'descending';
      heads.forEach((other) => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', order);

      const sign = order === 'ascending' ? 1 : -1;
      const compare = ([a], [b]) => sign * (column === 0 ? words.compare(a, b) : a === b ? 0 : a < b ? -1 : 1);
      const keyed = rows.map((row) => [value(row, column), row]).sort(compare);
      rows.splice(0, rows.length, ...keyed.map(([, row]) => row));
      grouped.checked = false;
      regroup();
      apply();
    });
  });

  const filter = $('filter');
  const apply = () => {
    const wanted = filter.value.trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
      if (!row.hidden) count++;
    }
    for (const group of groups) group.hidden = !rowsOf(group).some((row) => !row.hidden);
    flat.hidden = grouped.checked;
    table.classList.toggle('filtered', wanted !== '');
    table.parentElement.classList.toggle('long', wanted === '' && rows.length > 100);
    $('shown').textContent = `${count.toLocaleString('en')} of ${rows.length.toLocaleString('en')} pages`;
  };
  filter.addEventListener('input', apply);
  $('tools').hidden = false;
  apply();
})();
