// A plan, what it changes, and what follows from it.

import { Charts } from './chart.js';
import { el, tableOf } from './dom.js';
import { latency, money, number, percent, seconds, signed } from './format.js';
import { demandTag, kindOf, nameOf, proofTag, sumOver } from './plan.js';

// showPlan shows the plan of a fleet, beside that of the fleet as it was before it was changed.
export function showPlan(root, { fleet, plan, base, unchanged }) {
  root.replaceChildren(
    el('div', { class: 'card' }, overview(fleet, plan, base, unchanged), plan.notes.length > 0 && el('ul', { class: 'hint' }, plan.notes.map((n) => el('li', {}, n)))),
    card('Pools and quotas', pools(plan)),
    card('Replicas', allocations(plan)),
    card('Workloads', workloads(fleet, plan)),
  );
}

const card = (title, ...children) => el('div', { class: 'card' }, el('h3', {}, title), children);

function overview(fleet, plan, base, unchanged) {
  const current = currentPrice(base);
  const unmet = sumOver(plan.workloads, (w) => w.unmetRps);
  // Less is better only where all is served.
  const good = (difference) => (difference < -0.005 && plan.demand === 'SERVED' ? 'best' : null);
  const against = (difference) => el('span', { class: difference > 0.005 ? 'poor' : good(difference) }, signed(difference));
  const items = [
    ['Price per hour', money(plan.pricePerHour), 'large'],
    ['Against the unchanged fleet', against(plan.pricePerHour - unchanged.pricePerHour), 'large'],
    ['Against the replicas of now', current === null ? '–' : against(plan.pricePerHour - current), 'large'],
    ['Plan', proofTag(plan), ''],
    ['Demand', demandTag(plan), ''],
    ...(unmet > 0 ? [['Unmet', el('span', { class: 'poor' }, `${number(unmet)} requests/s`), '']] : []),
    ...(plan.budgetShadowPrice > 0 ? [['Shadow price of the budget', money(plan.budgetShadowPrice), '']] : []),
  ];
  return el('dl', { class: 'facts' }, items.map(([term, text, kind]) => el('div', { class: kind }, el('dt', {}, term), el('dd', {}, text))));
}

// currentPrice is what the replicas of now cost, at the cheapest of their pools; null where a
// variant names none that there is.
function currentPrice(fleet) {
  const price = (v) => {
    if (v.pricePerReplicaHour !== undefined && v.pricePerReplicaHour !== null) return v.pricePerReplicaHour;
    const own = fleet.pools.filter((p) => (v.pools?.length ? v.pools.includes(p.name || p.accelerator) : p.accelerator === v.accelerator));
    return own.length ? Math.min(...own.map((p) => p.pricePerHour)) * (v.devicesPerReplica ?? 1) : null;
  };
  let total = 0;
  for (const v of fleet.workloads.flatMap((w) => w.variants)) {
    if (!v.currentReplicas) continue;
    const each = price(v);
    if (each === null) return null;
    total += each * v.currentReplicas;
  }
  return total;
}

function allocations(plan) {
  if (plan.allocations.length === 0) return el('p', { class: 'empty' }, 'The plan has no replicas.');
  const change = (n) => (n === 0 ? '' : n > 0 ? `+${number(n)}` : `−${number(-n)}`);
  return tableOf(
    'Replicas',
    [{ label: 'Workload' }, { label: 'Variant' }, { label: 'Pool' }, ...['Now', 'Plan', 'Change', 'Share', 'Price/h'].map((label) => ({ label, number: true }))],
    plan.allocations.map((a) => [a.workload, a.variant, a.pool, number(a.replicas - a.change), el('b', {}, number(a.replicas)), change(a.change), percent(a.share, 0), money(a.pricePerHour)]),
  );
}

function pools(plan) {
  const row = (name, x) => [
    name,
    number(x.used),
    x.capacity === undefined || x.capacity === null ? 'no limit' : number(x.capacity),
    x.shadowPricePerHour > 0 ? { text: money(x.shadowPricePerHour), class: 'poor' } : '–',
  ];
  return tableOf(
    'Pools and quotas',
    [{ label: 'Pool' }, { label: 'Used', number: true }, { label: 'Of', number: true }, { label: 'Shadow price/h', number: true, hint: 'What one more device saves at the margin, with what is left unserved as it is. Replicas are whole: one alone may save more, or nothing.' }],
    [...plan.pools.map((p) => row(p.name, p)), ...plan.quotas.map((q) => row(`${q.pool}, quota of ${q.namespace}`, q))],
  );
}

function workloads(fleet, plan) {
  const slo = new Map(fleet.workloads.map((w) => [nameOf(w), w.slo]));
  const predicted = (w, which) => {
    const limits = slo.get(w.name)?.[which];
    const kind = kindOf(limits);
    const value = seconds(w.predicted?.[which]?.[kind]);
    const limit = seconds(limits?.[kind]);
    if (w.predicted?.saturated) return { text: 'saturated', class: 'poor' };
    if (value === null) return '–';
    return [latency(value), el('small', {}, ` ${kind}`), limit !== null && el('div', {}, el('small', {}, `limit ${latency(limit)}`))];
  };
  return tableOf(
    'Workloads',
    [{ label: 'Workload' }, ...['Served/s', 'Unmet/s', 'TTFT', 'ITL'].map((label) => ({ label, number: true })), { label: 'Binds' }],
    plan.workloads.map((w) => [
      [w.name, el('div', { class: 'hint reason' }, w.reason)], number(w.servedRps), w.unmetRps > 0 ? { text: number(w.unmetRps), class: 'poor' } : '0', predicted(w, 'ttft'), predicted(w, 'itl'), w.binding,
    ]),
  );
}

// showExplanation shows what follows from a plan.
export function showExplanation(root, e) {
  const parts = [
    e.shortage && card('What would serve all', shortage(e.shortage)),
    e.curves.length > 0 && card('Cost over demand', curves(e.curves)),
    e.changes.length > 0 && card('More or fewer devices', reasons(e.changes)),
    e.prices.length > 0 && card('How far prices may move', reasons(e.prices)),
    e.commitments.length > 0 && card('Committed devices', reasons(e.commitments)),
    e.unused.length > 0 && card('Variants that are not used', reasons(e.unused)),
    e.leftOut.length > 0 && el('p', { class: 'hint' }, `Time did not last for: ${e.leftOut.join('; ')}.`),
  ];
  root.replaceChildren(...parts.filter(Boolean));
}

const reasons = (list) => el('ul', { class: 'reasons' }, list.filter((x) => x.reason).map((x) => el('li', {}, x.reason)));

function shortage(s) {
  return el('ul', { class: 'reasons' },
    s.hopeless.map((h) => el('li', {}, el('b', {}, h.workload), `: ${h.reason}`)),
    [...s.increases, ...s.relaxations].filter((x) => x.reason).map((x) => el('li', {}, x.reason)));
}

// curves draws what the plan for all demand, and for that of each workload, would cost.
function curves(list) {
  const factors = [...new Set(list.flatMap((c) => c.points.map((p) => p.factor)))].sort((a, b) => a - b);
  const charts = new Charts({ x: factors, formatX: (f) => `${Math.round(100 * f)} %`, increments: [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10], stepped: false });
  const series = list.slice(0, 10).map((c, i) => ({
    name: c.workload || 'all workloads', color: `var(--series-${i + 1})`, dash: c.workload ? [6, 4] : [], width: c.workload ? 1.5 : 2.5, spanGaps: true,
    values: factors.map((f) => c.points.find((p) => p.factor === f)?.pricePerHour ?? null),
  }));
  return charts.add({ title: 'Price per hour', level: 'h4', unit: 'by demand, of that of now', format: money, series }).figure;
}
