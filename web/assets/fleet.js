// The fleet that the loop plans, as it changes.

import { Problem, ask, stream, words, workloadPath } from './api.js';
import { Charts, look } from './chart.js';
import { demandTag, kindOf, nameOf, proofTag, sumOver } from './plan.js';
import { announce, el, tableOf, update } from './dom.js';
import { latency, moment, money, number, plural, seconds } from './format.js';

const remembered = 200;
const shownWorkloads = 100;
const leastPause = 1000;
const mostPause = 10_000;
const outOfRange = 11; // of gRPC

const at = (id) => document.getElementById(id);

const state = {
  answer: null, // of GetFleet
  decisions: [], // the oldest first
  open: new Set(), // workloads whose details are shown
  all: false, // more workloads than a screen holds
};

async function refresh() {
  state.answer = await ask('/v1/fleet?view=FULL');
  show();
}

// Refreshes follow one another with a pause, however fast decisions are made.
let wanted = false;
let refreshing = false;
async function refreshSoon() {
  wanted = true;
  if (refreshing) return;
  refreshing = true;
  while (wanted) {
    wanted = false;
    try {
      await refresh();
    } catch (error) {
      complain(error);
    }
    await new Promise((done) => setTimeout(done, leastPause));
  }
  refreshing = false;
}

function complain(error) {
  at('problem').hidden = !error;
  at('problem').textContent = error ? words(error) : '';
}

function connected(yes) {
  const tag = at('connection');
  const text = yes ? 'live' : 'reconnecting';
  tag.className = yes ? 'tag good' : 'tag warn';
  if (tag.textContent !== text) tag.textContent = text;
}

// watch follows the decisions, and begins again where a stream has ended, as each does in the end.
async function watch() {
  let pause = leastPause;
  for (;;) {
    try {
      const after = state.decisions.at(-1)?.sequence;
      await refresh();
      connected(true);
      complain(null);
      for await (const event of stream(`/v1/decisions:watch${after ? `?afterSequence=${after}` : ''}`)) {
        pause = leastPause;
        if (event.decision) remember([event.decision]);
        refreshSoon();
      }
    } catch (error) {
      if (error instanceof Problem && error.code === outOfRange) {
        await start(); // another loop, which has not come as far
        continue;
      }
      connected(false);
    }
    await new Promise((done) => setTimeout(done, pause));
    pause = Math.min(2 * pause, mostPause);
  }
}

// start reads what was decided before.
async function start() {
  state.decisions = [];
  at('decisions').replaceChildren();
  try {
    const { decisions } = await ask(`/v1/decisions?pageSize=${remembered}`);
    remember(decisions.reverse());
  } catch (error) {
    if (!(error instanceof Problem && error.status === 503)) complain(error); // there is none yet
  }
}

function remember(decisions) {
  state.decisions.push(...decisions);
  state.decisions.splice(0, Math.max(0, state.decisions.length - remembered));
  at('decisions').prepend(...decisions.map(decisionItem).reverse());
  while (at('decisions').children.length > remembered) at('decisions').lastChild.remove();
  filterDecisions();
  showHistory();
}

function show() {
  const { fleet, decision } = state.answer;
  at('clock').textContent = `decision ${number(decision.sequence)} · ${moment(decision.time)} on the clock of the loop`;
  at('failure').hidden = !decision.failure;
  const failure = decision.failure && `Decision ${decision.sequence} could not be carried out: ${decision.failure}`;
  if (at('failure').textContent !== failure) at('failure').textContent = failure;
  showOverview(fleet, decision);
  showPools(fleet, decision.plan);
  showWorkloads();
}

function showOverview(fleet, decision) {
  const plan = decision.plan;
  const held = state.answer.pauses.length;
  const unmet = sumOver(plan.workloads, (w) => w.unmetRps);
  const items = [
    ['Price per hour', money(plan.pricePerHour), 'large'],
    ['Served', `${number(sumOver(plan.workloads, (w) => w.servedRps))} requests/s`, 'large'],
    ['Unmet', unmet > 0 ? el('span', { class: 'poor' }, `${number(unmet)} requests/s`) : '0', 'large'],
    ['Replicas', number(sumOver(plan.allocations, (a) => a.replicas)), 'large'],
    ['Plan', proofTag(plan), ''],
    ['Demand', demandTag(plan), ''],
    ['Paused', held ? plural(held, 'workload') : 'none', ''],
  ];
  at('overview').replaceChildren(...items.map(([term, text, kind]) => el('div', { class: kind }, el('dt', {}, term), el('dd', {}, text))));
}

function showPools(fleet, plan) {
  const prices = new Map(fleet.pools.map((p) => [p.name, p]));
  const cards = plan.pools.map((p) => {
    const declared = prices.get(p.name) ?? {};
    const limited = p.capacity !== undefined && p.capacity !== null;
    const part = limited ? (p.capacity ? p.used / p.capacity : 1) : 0;
    const fill = el('i');
    fill.style.width = `${Math.min(100, 100 * part)}%`;
    return el(
      'article',
      { class: 'card pool' },
      el('div', { class: 'row' }, el('h3', {}, p.name), el('span', { class: 'tag' }, p.accelerator), declared.interruptible && el('span', { class: 'tag warn' }, 'interruptible')),
      el('p', { class: 'figure' }, el('b', {}, number(p.used)), limited ? ` of ${number(p.capacity)} devices planned` : ' devices planned, no limit'),
      limited && el('div', { class: part >= 1 ? 'bar full' : 'bar', 'aria-hidden': 'true' }, fill),
      el('p', { class: 'hint' }, `${money(declared.pricePerHour)} per device and hour`,
        p.shadowPricePerHour > 0 && el('span', { class: 'poor' }, ` · shadow price ${money(p.shadowPricePerHour)} per hour`)),
    );
  });
  at('pools').replaceChildren(...(cards.length ? cards : [el('p', { class: 'empty' }, 'The fleet has no pools.')]));
}

const workloadColumns = [
  { label: 'Workload' }, { label: 'Demand', number: true, hint: 'Requests/s as observed, and as planned for' }, { label: 'Replicas' },
  { label: 'TTFT', hint: 'Time to first token: what the plan predicts, what was observed, what the SLO allows' },
  { label: 'ITL', hint: 'Inter-token latency' }, { label: 'State' }, { label: 'Action' },
];

function showWorkloads() {
  const { fleet, decision, pauses } = state.answer;
  const filter = at('filter').value.trim().toLowerCase();
  const plans = new Map(decision.plan.workloads.map((w) => [w.name, w]));
  const paused = new Map(pauses.map((p) => [p.workload, p]));
  const changes = Map.groupBy(decision.changes, (c) => c.workload);
  const chosen = fleet.workloads.filter((w) => `${nameOf(w)} ${w.model} ${w.serviceClass}`.toLowerCase().includes(filter));
  const shown = state.all ? chosen : chosen.slice(0, shownWorkloads);
  const rows = shown.map((w) => workloadRow(w, plans.get(nameOf(w)), paused.get(nameOf(w)), changes.get(nameOf(w)) ?? []));
  const root = at('workloads');
  if (rows.length === 0) {
    root.replaceChildren(el('p', { class: 'empty' }, filter ? `No workload matches “${filter}”.` : 'The fleet has no workloads.'));
    return;
  }
  if (!root.querySelector('table')) {
    root.replaceChildren(tableOf('Workloads', workloadColumns, []), el('p'));
  }
  update(root.querySelector('tbody'), rows);
  root.lastChild.replaceChildren(
    ...(shown.length < chosen.length
      ? [`${shown.length} of ${number(chosen.length)} workloads. `, el('button', { type: 'button', onclick: () => { state.all = true; showWorkloads(); } }, 'Show all')]
      : []),
  );
}

function workloadRow(w, plan, pause, changes) {
  const key = nameOf(w);
  const details = el(
    'details',
    { 'data-open': key, open: state.open.has(key), ontoggle: (e) => state.open[e.target.open ? 'add' : 'delete'](key) },
    el('summary', { 'data-focus': `why ${key}` }, 'Why'),
    el('p', {}, plan?.reason),
    plan?.expected?.reason && el('p', { class: 'hint' }, `Demand: ${plan.expected.reason}.`),
    el('ul', {}, (plan?.variants ?? []).map((v) => el('li', {}, el('b', {}, v.name), ` sustains ${number(v.capacityRps)} requests/s`, v.binding && ` (${v.binding})`, v.reason && `: ${v.reason}`))),
  );
  const conditions = (plan?.conditions ?? []).map((c) => el('span', { class: 'tag warn', title: c.message }, c.type));
  const paused = pause && el('p', { class: 'hint' }, `${pause.reason}${pause.expireTime ? `, until ${moment(pause.expireTime)}` : ''}`);
  const action = el('button', { type: 'button', 'data-focus': `act ${key}`, 'aria-label': `${pause ? 'Resume' : 'Pause'} ${key}`, onclick: () => (pause ? askResume(key) : askPause(key)) }, pause ? 'Resume' : 'Pause');
  return el(
    'tr',
    { 'data-key': key },
    el('th', { scope: 'row' }, key, el('div', { class: 'hint' }, [w.model, w.serviceClass].filter(Boolean).join(' · ')), details),
    el('td', { class: 'number', 'data-label': 'Demand' }, demand(w, plan)),
    el('td', { 'data-label': 'Replicas' }, el('ul', { class: 'plain' }, w.variants.map((v) => replicas(v, plan, changes)).filter(Boolean))),
    el('td', { class: 'nowrap', 'data-label': 'TTFT' }, latencies(w.slo?.ttft, plan, 'ttft')),
    el('td', { class: 'nowrap', 'data-label': 'ITL' }, latencies(w.slo?.itl, plan, 'itl')),
    el('td', { 'data-label': 'State' }, el('div', { class: 'tags' }, pause && el('span', { class: 'tag warn' }, 'Paused'), conditions.filter((c) => !pause || c.textContent !== 'Paused'),
      !pause && !conditions.length && el('span', { class: 'tag good' }, 'ok')), paused,
    (plan?.conditions ?? []).filter((c) => !pause || c.type !== 'Paused').map((c) => el('p', { class: 'hint' }, c.message))),
    el('td', {}, action),
  );
}

function demand(w, plan) {
  const observed = plan?.expected?.observedRps ?? w.load?.arrivalRate;
  const planned = w.load?.arrivalRate;
  return [
    el('b', {}, number(observed)), ' /s',
    plan?.expected && Math.abs(planned - observed) > 0.005 * observed && el('div', { class: 'hint' }, `planned for ${number(planned)}`),
    plan?.unmetRps > 0 && el('div', { class: 'poor' }, `${number(plan.unmetRps)} unmet`),
  ];
}

function replicas(v, plan, changes) {
  const p = plan?.variants.find((x) => x.name === v.name)?.replicas;
  const change = changes.find((c) => c.variant === v.name);
  const current = v.currentReplicas;
  const goal = p?.planned ?? current;
  if (!current && !goal && !change) return null;
  const to = change ? change.to : current;
  return el(
    'li',
    {},
    el('b', {}, number(current)),
    to !== current && [' → ', el('b', {}, number(to))],
    goal !== to && el('span', { class: 'hint' }, ` (plan ${number(goal)})`),
    ` × ${v.name}`,
    v.startingReplicas > 0 && el('span', { class: 'hint' }, `, ${number(v.startingReplicas)} starting`),
  );
}

// latencies has a line for what is predicted, by the quantile that the SLO limits, and one for
// what was observed.
function latencies(limits, plan, which) {
  const kind = kindOf(limits);
  const limit = seconds(limits?.[kind]);
  const predicted = seconds(plan?.predicted?.[which]?.[kind]);
  const over = limit !== null && predicted > limit;
  const seen = (plan?.variants ?? []).map((v) => ({ name: v.name, value: seconds(v.observed?.[which]) })).filter((v) => v.value !== null);
  return [
    plan?.predicted?.saturated
      ? el('span', { class: 'poor' }, 'saturated')
      : [el('b', { class: over ? 'poor' : null }, latency(predicted)), predicted !== null && el('span', { class: 'hint' }, ` ${kind}`)],
    limit !== null && el('div', { class: 'hint' }, `limit ${latency(limit)}`),
    seen.map((v) => el('div', { class: 'hint' }, `observed ${latency(v.value)} mean`, seen.length > 1 && `, ${v.name}`)),
  ];
}

function decisionItem(d) {
  const words = d.changes.map((c) => `${c.workload} ${c.variant} ${c.from} → ${c.to}`);
  const item = el(
    'details',
    { class: 'decision', 'data-changes': String(d.changes.length > 0 || Boolean(d.failure) || d.dropped.length > 0), ontoggle: () => item.open && item.children.length === 1 && item.append(decisionBody(d)) },
    el('summary', {}, el('span', { class: 'code' }, `#${d.sequence}`), ` ${moment(d.time)} · ${money(d.plan.pricePerHour)}/h · `,
      d.failure && [el('span', { class: 'tag bad' }, 'failed'), ' '],
      words.length ? el('b', {}, words.slice(0, 3).join(', ') + (words.length > 3 ? ` and ${words.length - 3} more` : '')) : el('span', { class: 'hint' }, 'no change')),
  );
  return item;
}

function decisionBody(d) {
  const body = el('div', { class: 'stack body' },
    d.failure && el('p', { class: 'notice bad' }, d.failure),
    d.changes.length > 0 && tableOf(`Changes of decision ${d.sequence}`,
      [{ label: 'Workload' }, { label: 'Variant' }, { label: 'Replicas', number: true }, { label: 'Plan', number: true }, { label: 'Reason' }],
      d.changes.map((c) => [c.workload, c.variant, `${number(c.from)} → ${number(c.to)}`, number(c.goal), { text: c.reason, class: 'wide' }])),
    d.dropped.length > 0 && tableOf(`Dropped changes of decision ${d.sequence}`, [{ label: 'Dropped' }, { label: 'Variant' }, { label: 'Reason' }], d.dropped.map((x) => [x.workload, x.variant, { text: x.reason, class: 'wide' }])));
  const trail = el('div', { 'aria-busy': 'true' }, el('p', { class: 'hint' }, 'Reading the trail.'));
  body.append(trail);
  showTrail(trail, d.sequence);
  return body;
}

async function showTrail(root, sequence) {
  const ended = new AbortController();
  try {
    for await (const { decision } of stream(`/v1/decisions:watch?view=FULL&afterSequence=${BigInt(sequence) - 1n}`, { signal: ended.signal })) {
      const kept = decision && decision.sequence === sequence && decision.view === 'FULL';
      root.replaceChildren(
        kept && decision.trail.length
          ? tableOf(`Trail of decision ${sequence}`, [{ label: 'Stage' }, { label: 'Of' }, { label: 'Before' }, { label: 'After' }, { label: 'Reason' }],
            decision.trail.map((s) => [s.stage, s.subject || 'fleet', s.before, s.after, { text: s.reason, class: 'wide' }]))
          : el('p', { class: 'hint' }, kept ? 'No stage had anything to say.' : 'The trail is no longer remembered.'),
      );
      break;
    }
  } catch (error) {
    root.replaceChildren(el('p', { class: 'notice bad' }, words(error)));
  }
  ended.abort();
  root.removeAttribute('aria-busy');
}

function filterDecisions() {
  const only = at('changes').checked;
  let shown = 0;
  for (const item of at('decisions').querySelectorAll('.decision')) {
    item.hidden = only && item.dataset.changes === 'false';
    if (!item.hidden) shown++;
  }
  at('decisions').querySelector('.empty')?.remove();
  if (!shown) at('decisions').append(el('p', { class: 'empty' }, state.decisions.length ? 'No decision changed anything yet.' : 'No decision has been made yet.'));
}

let history = null;

// showHistory draws price and devices over the decisions that are remembered.
function showHistory() {
  const decisions = state.decisions.filter((d) => d.plan);
  if (decisions.length < 2) return;
  const x = decisions.map((d) => Date.parse(d.time) / 1000);
  const pools = [...new Set(decisions.flatMap((d) => d.plan.pools.map((p) => p.name)))].sort();
  const price = [{ name: 'price', ...look(0), values: decisions.map((d) => d.plan.pricePerHour) }];
  const used = pools.map((pool, i) => ({ name: pool, ...look(i), values: decisions.map((d) => d.plan.pools.find((p) => p.name === pool)?.used ?? null) }));
  if (!history) {
    const charts = new Charts({ x, formatX: (t) => moment(new Date(1000 * t), false).slice(0, 5) });
    history = {
      price: charts.add({ title: 'Price', unit: 'per hour', format: money, series: price, legend: false }),
      used: charts.add({ title: 'Devices used', unit: 'by pool', series: used }),
    };
    at('history').parentElement.hidden = false;
    at('history').append(history.price.figure, history.used.figure);
    at('zoom').append(charts.toolbar());
    return;
  }
  history.price.set({ x, series: price });
  history.used.set({ series: used });
}

function askPause(workload) {
  const dialog = at('pause');
  at('pause-title').textContent = `Pause ${workload}`;
  at('pause-reason').value = '';
  confirmed(dialog, 'pause-mistake', async () => {
    const ttl = at('pause-ttl').value;
    await ask(`${workloadPath(workload)}:pause`, { reason: at('pause-reason').value.trim(), ...(ttl && { ttl }) });
    announce(`${workload} is paused`);
  });
}

function askResume(workload) {
  const pause = state.answer.pauses.find((p) => p.workload === workload);
  if (!pause) return; // somebody else was faster
  at('resume-title').textContent = `Resume ${workload}`;
  at('resume-text').textContent = `It was paused for this reason: ${pause.reason}. The loop will change its replicas again.`;
  confirmed(at('resume'), 'resume-mistake', async () => {
    await ask(`${workloadPath(workload)}:resume`, {});
    announce(`${workload} is resumed`);
  });
}

// confirmed shows a dialog, and acts when it is agreed to.
function confirmed(dialog, mistake, act) {
  const form = dialog.querySelector('form');
  at(mistake).textContent = '';
  form.onsubmit = async (event) => {
    event.preventDefault();
    try {
      await act();
      dialog.close();
      await refresh();
    } catch (error) {
      at(mistake).textContent = words(error);
    }
  };
  dialog.querySelector('[data-close]').onclick = () => dialog.close();
  dialog.showModal();
}

at('filter').addEventListener('input', showWorkloads);
at('changes').addEventListener('change', filterDecisions);
await start();
watch();
