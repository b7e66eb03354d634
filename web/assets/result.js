// What became of a simulated fleet: totals, charts over time, workloads and seeds. The page of
// a report and the page that runs simulations show it alike.

import { announce, el, tableOf, uniqueID } from './dom.js';
import { Charts, legendButton, look, summary, swatch } from './chart.js';
import { latency, money, number, percent, plural, seconds, share, span } from './format.js';

// showResult shows a SimulationResult of the API, as JSON, in an element.
export function showResult(root, result) {
  const autoscalers = result.autoscalers.map((a, i) => ({ ...a, ...look(i), hidden: false }));
  if (autoscalers.length === 0) {
    root.replaceChildren(el('p', { class: 'empty' }, 'The result has no autoscaler.'));
    return;
  }
  root.replaceChildren(
    el('p', { class: 'lead' }, verdict(result)),
    facts(result),
    section('Totals', result.seeds.length > 1 ? 'Each autoscaler met the same arrivals. Means over seeds, with 95 % confidence intervals.' : 'Each autoscaler met the same arrivals.', totals(result, autoscalers)),
    overTime(result, autoscalers),
    section('Workloads', 'Latencies are over the requests that ended, on the mean over seeds.', workloads(autoscalers)),
    el('details', { class: 'card' }, el('summary', {}, 'Every seed'), runs(autoscalers)),
  );
}

function section(title, hint, ...children) {
  const id = uniqueID('section');
  return el('section', { class: 'card', 'aria-labelledby': id }, el('h2', { id }, title), hint && el('p', { class: 'hint' }, hint), children);
}

// within says whether an autoscaler met the objective of each workload.
function within(a) {
  return a.workloads.every((w) => w.objective === undefined || w.objective === null || w.attainment.mean >= w.objective);
}

// verdict is the result in a sentence.
function verdict(result) {
  const price = (a) => a.cost.mean;
  const good = result.autoscalers.filter(within).sort((a, b) => price(a) - price(b));
  if (good.length === 0) {
    const best = result.autoscalers.toSorted((a, b) => b.attainment.mean - a.attainment.mean)[0];
    return `No autoscaler met the objective of every workload. ${best.name} served the most requests within the SLO: ${share(best.attainment.mean)}, for ${money(price(best))}.`;
  }
  const [best, next] = good;
  const bound = best.regret ? `, ${percent(best.regret.mean)} above the hindsight bound` : '';
  const others = next ? `; ${next.name}, the next, cost ${percent(price(next) / price(best) - 1)} more` : '';
  return `Of ${plural(result.autoscalers.length, 'autoscaler')}, ${good.length} met the objective of every workload. ${best.name} did so for the least: ${money(price(best))}${bound}${others}.`;
}

function facts(result) {
  const requests = result.autoscalers[0].workloads.reduce((sum, w) => sum + w.requests, 0);
  const items = [
    ['Time that counts', span(seconds(result.duration))],
    ['Warm-up', seconds(result.warmup) > 0 ? span(seconds(result.warmup)) : 'none'],
    ['Windows of', span(seconds(result.window))],
    [result.seeds.length === 1 ? 'Seed' : 'Seeds', result.seeds.join(', ')],
    ['Requests per seed', number(Math.round(requests))],
  ];
  if (result.hindsightCost.length) items.push(['Hindsight bound', money(mean(result.hindsightCost))]);
  return el('dl', { class: 'facts' }, items.map(([term, text]) => el('div', {}, el('dt', {}, term), el('dd', {}, text))));
}

const mean = (values) => values.reduce((sum, v) => sum + v, 0) / values.length;

// estimate is a mean and, over several seeds, half its interval.
function estimate(e, format, formatHalf = format) {
  if (!e) return '–';
  const half = e.upper === undefined || e.upper === null ? null : (e.upper - e.lower) / 2;
  return half === null ? format(e.mean) : [format(e.mean), el('small', { class: 'interval' }, ` ± ${formatHalf(half)}`)];
}

// attainment is an estimate of a share that is close to 100 %.
const attainment = (e) => estimate(e, share, (half) => percent(half, 2));

const named = (a) => el('span', { class: 'named' }, swatch(a), a.name);

function totals(result, autoscalers) {
  const classes = classesOf(autoscalers);
  const cheapest = Math.min(...autoscalers.filter(within).map((a) => a.cost.mean));
  const columns = [
    { label: 'Autoscaler' },
    { label: 'Objectives' },
    { label: 'Cost', number: true, hint: 'Price of all replicas for the time that they held devices' },
    { label: 'Above bound', number: true, hint: 'Cost beyond the hindsight bound, as a share of it' },
    { label: 'Device-hours', number: true },
    { label: 'Within SLO', number: true, hint: 'Share of all requests that arrived' },
    ...classes.map((name) => ({ label: `of ${name || 'no class'}`, number: true, hint: 'Within SLO, of the requests of this service class' })),
    { label: 'Unmet', number: true, hint: 'Requests that were rejected, timed out or were not done at the end' },
    { label: 'Scale events', number: true },
  ];
  const rows = autoscalers.map((a) => {
    const met = within(a);
    const missed = a.workloads.filter((w) => w.objective !== undefined && w.attainment.mean < w.objective);
    return [
      named(a),
      met
        ? el('span', { class: 'tag good' }, a.cost.mean === cheapest ? 'met, cheapest' : 'met')
        : el('span', { class: 'tag bad', title: missed.map((w) => w.workload).join(', ') }, `missed ${missed.length} of ${a.workloads.length}`),
      { text: estimate(a.cost, money), class: met && a.cost.mean === cheapest ? 'best' : '' },
      estimate(a.regret, percent),
      number(a.deviceHours?.mean),
      attainment(a.attainment),
      ...classes.map((name) => ofClass(a, name)),
      number(a.unmetRequests?.mean),
      number(a.scaleEvents?.mean),
    ];
  });
  return tableOf('Totals by autoscaler', columns, rows);
}

const mostClasses = 4;

// classesOf are the service classes that totals are shown of: none where they say nothing more,
// or where there are too many for a table.
function classesOf(autoscalers) {
  const names = (autoscalers[0].classes ?? []).map((c) => c.serviceClass);
  return names.length > 1 && names.length <= mostClasses ? names : [];
}

function ofClass(a, name) {
  const c = a.classes.find((x) => x.serviceClass === name);
  return { text: attainment(c?.attainment), class: c?.objective > c?.attainment?.mean ? 'poor' : '' };
}

function workloads(autoscalers) {
  const columns = [
    { label: 'Workload' },
    { label: 'Autoscaler' },
    { label: 'Requests', number: true },
    { label: 'Within SLO', number: true },
    { label: 'Objective', number: true },
    { label: 'Unmet', number: true },
    ...['TTFT p50', 'p95', 'p99', 'limit', 'ITL p50', 'p95', 'p99', 'limit'].map((label) => ({ label, number: true })),
  ];
  const rows = [];
  autoscalers[0].workloads.forEach((first, i) => {
    autoscalers.forEach((a) => {
      const w = a.workloads[i];
      const missed = w.objective !== undefined && w.attainment.mean < w.objective;
      const latencies = (l) => [...[l?.p50, l?.p95, l?.p99].map((e) => latency(e?.mean)), latency(l?.limit)];
      rows.push([
        first.workload,
        named(a),
        number(Math.round(w.requests)),
        { text: attainment(w.attainment), class: missed ? 'poor' : '' },
        percent(w.objective),
        number(w.unmetRequests?.mean),
        ...latencies(w.ttft),
        ...latencies(w.itl),
      ]);
    });
  });
  return tableOf('Workloads by autoscaler', columns, rows);
}

function runs(autoscalers) {
  const columns = [
    { label: 'Autoscaler' },
    ...['Seed', 'Cost', 'Device-hours', 'Within SLO', 'Requests', 'Unmet', 'Scale events'].map((label) => ({ label, number: true })),
  ];
  const rows = autoscalers.flatMap((a) =>
    a.runs.map((r) => [named(a), r.seed, money(r.cost), number(r.deviceHours), share(r.attainment), number(r.requests), number(r.unmetRequests), number(r.scaleEvents)]),
  );
  return tableOf('Every seed', columns, rows);
}

// values turns NaN, which JSON has as text, into a gap.
const values = (list) => list.map((v) => (typeof v === 'number' ? v : null));

const sumOf = (lists, length) => Array.from({ length }, (_, i) => lists.reduce((sum, l) => (sum === null || l[i] === null || l[i] === undefined ? null : sum + l[i]), 0));

// overTime has the charts, and what says which workload and which autoscalers they show.
function overTime(result, autoscalers) {
  const step = seconds(result.window);
  const start = seconds(result.warmup) ?? 0;
  const length = Math.max(0, ...autoscalers.map((a) => a.costPerHour.length));
  const charts = new Charts({ x: Array.from({ length }, (_, i) => start + i * step) });
  const names = result.demand.map((d) => d.workload);
  const lines = (make) => autoscalers.map((a) => ({ name: a.name, color: a.color, dash: a.dash, hidden: a.hidden, values: make(a) }));
  const view = { charts, autoscalers, result, length, lines };

  const cost = charts.add({
    title: 'Cost', unit: 'price per hour', legend: false, format: money, series: lines((a) => values(a.costPerHour)),
  });
  const figures = workloadCharts(view, names[0]);
  const devices = deviceCharts(view);
  const shared = [cost, ...figures.charts];
  const keys = autoscalers.map((a) => {
    const button = legendButton(a, () => {
      a.hidden = !a.hidden;
      button.setAttribute('aria-pressed', String(!a.hidden));
      for (const chart of shared) {
        chart.series.forEach((s) => { if (s.name === a.name) s.hidden = a.hidden; });
        chart.show();
      }
      devices.show(a);
    });
    return button;
  });
  const select = el('select', { id: uniqueID('workload'), onchange: () => { figures.set(select.value); announce(`Charts show ${select.value}`); } },
    names.map((name) => el('option', {}, name)));
  return section(
    'Over time',
    result.seeds.length > 1 ? `Of the first seed, ${result.seeds[0]}. Drag over a chart to zoom in, double-click to see all.` : 'Drag over a chart to zoom in, double-click to see all.',
    el(
      'div',
      { class: 'controls' },
      el('label', {}, 'Workload ', select),
      el('div', { class: 'legend', role: 'group', 'aria-label': 'Autoscalers shown' }, keys),
      charts.toolbar(),
    ),
    el('div', { class: 'charts' }, cost.figure, figures.charts.map((c) => c.figure)),
    el('h3', { class: 'devices' }, 'Devices held, by accelerator'),
    el('div', { class: 'charts' }, devices.figures),
  );
}

// workloadCharts are those of one workload, which set changes.
function workloadCharts(view, name) {
  const { charts, autoscalers, result, length, lines } = view;
  const flat = (label, value) => value !== undefined && value !== null && {
    name: label, color: 'var(--text)', dash: [6, 4], width: 1, values: new Array(length).fill(value),
  };
  const of = (a, workload) => ({
    totals: a.workloads.find((w) => w.workload === workload),
    latency: a.latencies.find((l) => l.workload === workload),
    replicas: a.replicas.filter((r) => r.workload === workload),
  });
  const latencies = (workload, field) => lines((a) => values(of(a, workload).latency?.[field] ?? []));
  const first = (workload) => of(autoscalers[0], workload).totals;
  const capacity = (a, workload) => sumOf(
    of(a, workload).replicas.map((r) => r.serving.map((n) => (n === 0 ? 0 : r.capacityRps === undefined ? null : n * r.capacityRps))), length);
  const series = {
    load: (w) => [...lines((a) => capacity(a, w)), { name: 'demand', color: 'var(--text)', width: 2, values: values(result.demand.find((d) => d.workload === w)?.arrivalRate ?? []) }],
    ttft: (w) => [flat('limit', first(w)?.ttft?.limit), ...latencies(w, 'ttftP95')].filter(Boolean),
    mean: (w) => latencies(w, 'ttftMean'),
    itl: (w) => [flat('limit', first(w)?.itl?.limit), ...latencies(w, 'itlMean')].filter(Boolean),
    attainment: (w) => [flat('objective', first(w)?.objective), ...latencies(w, 'attainment')].filter(Boolean),
  };
  const made = {
    load: charts.add({ title: 'Load against capacity', unit: 'requests/s', note: 'thick: demand', legend: false, series: series.load(name) }),
    ttft: charts.add({ title: 'Time to first token', unit: '95th percentile', note: 'dashed: limit', legend: false, format: latency, series: series.ttft(name) }),
    itl: charts.add({ title: 'Inter-token latency', unit: 'mean', note: 'dashed: limit', legend: false, format: latency, series: series.itl(name) }),
    mean: charts.add({ title: 'Mean time to first token', unit: 'mean', legend: false, format: latency, series: series.mean(name) }),
    attainment: charts.add({ title: 'Within the SLO', unit: 'share of requests', note: 'dashed: objective', legend: false, format: percent, range: (least) => [Math.min(least ?? 0, 0.98), 1.001], series: series.attainment(name) }),
  };
  return {
    charts: Object.values(made),
    set: (workload) => Object.entries(made).forEach(([key, chart]) => chart.set({ series: series[key](workload) })),
  };
}

// deviceCharts show the autoscalers side by side, with one scale.
function deviceCharts({ charts, autoscalers, length }) {
  const accelerators = [...new Set(autoscalers.flatMap((a) => a.replicas.map((r) => r.accelerator)))].sort();
  const held = (a, accelerator) => sumOf(
    a.replicas.filter((r) => r.accelerator === accelerator).map((r) => r.paid.map((n) => n * (r.devicesPerReplica || 1))), length);
  const series = new Map(autoscalers.map((a) => [a.name, accelerators.map((name, i) => ({ name, ...look(i + 1), fill: true, values: held(a, name) }))]));
  const most = Math.max(1, ...[...series.values()].flat().map((s) => summary(s.values).most ?? 0));
  const figures = autoscalers.map((a) => {
    const chart = charts.add({ title: a.name, level: 'h4', unit: 'devices', range: () => [0, most * 1.08], series: series.get(a.name) });
    return { name: a.name, figure: chart.figure };
  });
  return {
    figures: figures.map((f) => f.figure),
    show: (a) => { figures.find((f) => f.name === a.name).figure.hidden = a.hidden; },
  };
}

