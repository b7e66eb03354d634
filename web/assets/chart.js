/* global uPlot */
// Charts over time that share one axis: what is zoomed or pointed at in one is so in all.

import { el, tableOf, uniqueID } from './dom.js';
import { elapsed, number } from './format.js';

const height = 240;
const tableRows = 48;
const steps = [1, 5, 10, 30, 60, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
const colors = 10;

// look is how the series with an index is drawn, the same in all charts.
export function look(index) {
  return { color: `var(--series-${(index % colors) + 1})`, dash: dashes[Math.floor(index / colors) % dashes.length] };
}

// resolved is the value of a colour in the theme of now, which a canvas needs.
function resolved(color) {
  const probe = el('span', { hidden: true });
  document.body.append(probe);
  probe.style.color = color;
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

// Charts is a group of charts with x in seconds, or in what formatX takes.
export class Charts {
  constructor({ x, formatX = elapsed, increments = steps, stepped = true }) {
    this.x = x;
    this.formatX = formatX;
    this.increments = increments;
    this.stepped = stepped;
    this.range = null; // all
    this.charts = new Set();
    this.key = uniqueID('charts');
    this.palette = new Map();
    this.whenSeen = new IntersectionObserver(
      (entries) => entries.filter((e) => e.isIntersecting).forEach((e) => e.target.draw?.()),
      { rootMargin: '400px' },
    );
    this.whenResized = new ResizeObserver((entries) => entries.forEach((e) => e.target.resized?.()));
    const recolor = () => {
      this.palette.clear();
      this.charts.forEach((c) => c.plot?.redraw(false, true));
    };
    document.addEventListener('themechange', recolor);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolor);
  }

  color(name) {
    if (!this.palette.has(name)) this.palette.set(name, resolved(name));
    return this.palette.get(name);
  }

  // toolbar has what the mouse does on a chart for everyone.
  toolbar() {
    const button = (label, text, act) => el('button', { type: 'button', class: 'small', 'aria-label': label, title: label, onclick: act }, text);
    const scale = (factor) => () => {
      const [from, to] = this.shown();
      const middle = (from + to) / 2;
      this.zoom(middle - ((to - from) * factor) / 2, middle + ((to - from) * factor) / 2);
    };
    const move = (part) => () => {
      const [from, to] = this.shown();
      const [least, most] = this.bounds();
      const by = Math.max(least - from, Math.min(most - to, (to - from) * part));
      this.zoom(from + by, to + by);
    };
    return el(
      'div',
      { class: 'toolbar', role: 'group', 'aria-label': 'Time shown' },
      button('Earlier', '←', move(-0.5)),
      button('Later', '→', move(0.5)),
      button('Zoom in', '+', scale(0.5)),
      button('Zoom out', '−', scale(2)),
      el('button', { type: 'button', class: 'small', onclick: () => this.zoom(...this.bounds()) }, 'All'),
    );
  }

  bounds() {
    return this.x.length ? [this.x[0], this.x[this.x.length - 1]] : [0, 1];
  }

  shown() {
    return this.range ?? this.bounds();
  }

  zoom(from, to) {
    const [least, most] = this.bounds();
    const clipped = [Math.max(least, from), Math.min(most, to)];
    if (!(clipped[1] > clipped[0])) return;
    this.range = clipped[0] <= least && clipped[1] >= most ? null : clipped;
    this.charts.forEach((c) => {
      c.plot?.setScale('x', { min: clipped[0], max: clipped[1] });
      c.tabulate();
    });
  }

  // extend takes other x; what was zoomed in stays so as far as it is there.
  extend(x) {
    this.x = x;
    if (this.range && !(this.range[0] >= x[0] && this.range[1] <= x[x.length - 1])) this.range = null;
  }

  // add makes a chart and returns its figure. Series are {name, values, color, dash, width, fill};
  // values stand beside those of x, null where there is none.
  add(config) {
    const chart = new Chart(this, config);
    this.charts.add(chart);
    return chart;
  }
}

class Chart {
  constructor(group, { title, unit, series, format = number, range = fromZero, legend = true, note, level = 'h3' }) {
    Object.assign(this, { group, title, unit, series, format, yRange: range });
    this.canvas = el('div', { class: 'plot', role: 'img' });
    this.canvas.draw = () => this.draw();
    this.canvas.resized = () => this.resize();
    this.tip = el('div', { class: 'tip', hidden: true, 'aria-hidden': 'true' });
    this.table = el('details', { class: 'data', ontoggle: () => this.tabulate() }, el('summary', {}, 'Show as a table'));
    this.legend = el('div', { class: 'legend', role: 'group', 'aria-label': `Lines of ${title}` });
    this.figure = el(
      'figure',
      { class: 'chart' },
      el('figcaption', {}, el(level, {}, title), el('p', {}, unit, note ? ` · ${note}` : '')),
      el('div', { class: 'frame' }, this.canvas, this.tip),
      legend && this.legend,
      this.table,
    );
    this.canvas.style.height = `${height}px`;
    this.describe();
    this.legend.append(...series.map((s) => this.legendButton(s)));
    group.whenSeen.observe(this.canvas);
    group.whenResized.observe(this.canvas);
  }

  legendButton(s) {
    const button = legendButton(s, () => {
      s.hidden = !s.hidden;
      button.setAttribute('aria-pressed', String(!s.hidden));
      this.show();
    });
    return button;
  }

  // show follows what is hidden of the series.
  show() {
    this.series.forEach((s, i) => this.plot?.setSeries(i + 1, { show: !s.hidden }));
    this.describe();
    this.tabulate();
  }

  // set takes other series, and keeps which are hidden.
  set({ series, x }) {
    if (x) this.group.extend(x);
    const same = series.length === this.series.length && series.every((s, i) => s.name === this.series[i].name);
    series.forEach((s) => (s.hidden ??= this.series.find((old) => old.name === s.name)?.hidden));
    this.series = series;
    if (this.plot && same) {
      this.plot.setData([this.group.x, ...series.map((s) => s.values)], false);
      const [min, max] = this.group.shown();
      this.plot.setScale('x', { min, max });
    } else if (this.plot) {
      this.destroyPlot();
      this.draw();
    }
    this.legend.replaceChildren(...series.map((s) => this.legendButton(s)));
    this.describe();
    this.tabulate();
  }

  visible() {
    return this.series.filter((s) => !s.hidden);
  }

  describe() {
    const words = this.visible()
      .slice(0, 12)
      .map((s) => {
        const { mean, most } = summary(s.values);
        return mean === null ? `${s.name}: no values` : `${s.name}: mean ${this.format(mean)}, highest ${this.format(most)}`;
      });
    this.canvas.setAttribute('aria-label', `${this.title}, ${this.unit}. ${words.join('; ') || 'Nothing is shown'}.`);
  }

  draw() {
    if (this.plot || !this.canvas.clientWidth) return;
    const group = this.group;
    const [min, max] = group.shown();
    const line = { stroke: () => group.color('var(--grid)'), width: 1 };
    const axis = { stroke: () => group.color('var(--muted)'), grid: line, ticks: { ...line, size: 4 }, font: '12px system-ui, sans-serif' };
    this.plot = new uPlot(
      {
        width: this.canvas.clientWidth,
        height,
        padding: [10, 24, 0, 0],
        legend: { show: false },
        cursor: {
          sync: { key: group.key, setSeries: false },
          drag: { x: true, y: false, setScale: false },
          points: { size: 6 },
          bind: { dblclick: () => () => group.zoom(...group.bounds()) },
        },
        scales: { x: { time: false, range: (u, from, to) => [from, to] }, y: { range: (u, least, most) => this.yRange(least, most) } },
        axes: [
          { ...axis, incrs: group.increments, space: 64, size: 30, values: (u, values) => values.map(group.formatX) },
          { ...axis, size: axisSize, values: (u, values) => values.map((v) => this.format(v)) },
        ],
        series: [{}, ...this.series.map((s) => this.drawn(s))],
        hooks: { setSelect: [(u) => this.selected(u)], setCursor: [(u) => this.point(u)] },
      },
      [group.x, ...this.series.map((s) => s.values)],
      this.canvas,
    );
    this.plot.setScale('x', { min, max });
    this.canvas.addEventListener('mouseleave', () => (this.tip.hidden = true));
  }

  drawn(s) {
    return {
      label: s.name,
      show: !s.hidden,
      stroke: () => this.group.color(s.color),
      fill: s.fill ? () => transparent(this.group.color(s.color)) : undefined,
      width: s.width ?? 1.5,
      dash: s.dash,
      points: { show: false },
      spanGaps: s.spanGaps,
      paths: this.group.stepped ? uPlot.paths.stepped({ align: 1 }) : undefined,
    };
  }

  selected(u) {
    const { left, width } = u.select;
    if (width < 4) return;
    const [from, to] = [u.posToVal(left, 'x'), u.posToVal(left + width, 'x')];
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.group.zoom(from, to);
  }

  // point shows the values where the mouse is; charts that only follow show a line.
  point(u) {
    const { idx, left, top, event } = u.cursor;
    const here = event && u.over.contains(event.target) && left >= 0 && idx !== null && idx !== undefined;
    this.tip.hidden = !here;
    if (!here) return;
    const rows = this.visible()
      .map((s) => ({ s, value: s.values[idx] }))
      .filter(({ value }) => value !== null && value !== undefined)
      .sort((a, b) => b.value - a.value);
    this.tip.replaceChildren(
      el('strong', {}, this.group.formatX(this.group.x[idx])),
      ...rows.map(({ s, value }) => el('span', {}, swatch(s), `${s.name} `, el('b', {}, this.format(value)))),
    );
    const plot = this.canvas.clientWidth;
    const x = left + u.bbox.left / devicePixelRatio;
    const right = x > plot / 2;
    this.tip.style.left = right ? 'auto' : `${x + 12}px`;
    this.tip.style.right = right ? `${plot - x + 12}px` : 'auto';
    this.tip.style.top = `${Math.max(0, Math.min(top, height - 40 - 20 * rows.length))}px`;
  }

  resize() {
    if (this.plot) this.plot.setSize({ width: this.canvas.clientWidth, height });
    else if (this.canvas.getBoundingClientRect().top < innerHeight + 400) this.draw();
  }

  // tabulate fills the table, if it is open, with means over what is shown.
  tabulate() {
    while (this.table.children.length > 1) this.table.lastChild.remove();
    if (!this.table.open) return;
    const [from, to] = this.group.shown();
    const first = this.group.x.findIndex((x) => x >= from);
    const last = this.group.x.findLastIndex((x) => x <= to);
    const size = Math.max(1, Math.ceil((last - first + 1) / tableRows));
    const columns = [{ label: 'From' }, ...this.visible().map((s) => ({ label: s.name, number: true }))];
    const rows = [];
    for (let i = first; i >= 0 && i <= last; i += size) {
      const end = Math.min(i + size, last + 1);
      rows.push([this.group.formatX(this.group.x[i]), ...this.visible().map((s) => this.format(summary(s.values.slice(i, end)).mean))]);
    }
    this.table.append(
      el('p', {}, size > 1 ? `Means over ${size} windows each, ${this.unit}.` : `Every window, ${this.unit}.`),
      tableOf(this.title, columns, rows),
    );
  }

  destroyPlot() {
    this.plot?.destroy();
    this.plot = null;
    this.tip.hidden = true;
  }
}

// legendButton shows or hides a series.
export function legendButton(s, toggle) {
  return el('button', { type: 'button', class: 'key', 'aria-pressed': String(!s.hidden), onclick: toggle }, swatch(s), s.name);
}

// swatch is a piece of the line of a series.
export function swatch(s) {
  const mark = el('i', { class: s.dash?.length ? 'swatch dashed' : 'swatch', 'aria-hidden': 'true' });
  mark.style.color = s.color;
  return mark;
}

export const fromZero = (least, most) => [Math.min(0, least ?? 0), most > 0 ? most * 1.08 : 1];

// summary is mean and maximum of what values there are.
export function summary(values) {
  let n = 0;
  let sum = 0;
  let most = null;
  for (const v of values) {
    if (v === null || v === undefined) continue;
    n++;
    sum += v;
    if (most === null || v > most) most = v;
  }
  return { mean: n ? sum / n : null, most };
}

function axisSize(u, values) {
  const longest = Math.max(0, ...(values ?? []).map((v) => v.length));
  return 18 + 7 * longest;
}

function transparent(color) {
  return color.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.12)');
}
