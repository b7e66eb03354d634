// What a fleet would cost if it were otherwise.

import { Problem, ask, words } from './api.js';
import { announce, el, save, uniqueID } from './dom.js';
import { duration, number, seconds } from './format.js';
import { nameOf } from './plan.js';
import { showExplanation, showPlan } from './answer.js';

const debounce = 120;
const mostInputs = 50;
const stored = 'poolwright.what-if';

const at = (id) => document.getElementById(id);
const copy = (x) => structuredClone(x);

const state = {
  base: null, // as it was taken
  fleet: null, // as it is changed
  factor: 1, // on the demand of all workloads
  source: '',
  unchanged: null, // the plan of base
};

// take begins with another fleet.
async function take(fleet, source) {
  Object.assign(state, { base: fleet, fleet: copy(fleet), factor: 1, source, unchanged: null });
  at('source').textContent = source;
  complain(null);
  showInputs();
  changed();
}

async function takeLive() {
  try {
    const { fleet, decision } = await ask('/v1/fleet');
    await take(fleet, `live, as decision ${number(decision.sequence)} saw it`);
  } catch (error) {
    complain(error);
  }
}

// takeText begins with a fleet that somebody wrote.
async function takeText(text, source) {
  try {
    await take(await ask('/read/fleet', text), source);
  } catch (error) {
    complain(error);
  }
}

// complain shows what is wrong, at its fields as far as they are there.
function complain(error) {
  for (const field of document.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid');
    field.removeAttribute('aria-describedby');
  }
  document.querySelectorAll('#inputs .mistake').forEach((m) => m.remove());
  const rest = (error?.violations ?? []).filter((v) => !mark(v));
  const box = at('problem');
  box.hidden = !error || (error.violations?.length > 0 && rest.length === 0);
  box.replaceChildren();
  if (box.hidden) return;
  if (rest.length) box.append('The fleet is not right:', el('ul', {}, rest.map((v) => el('li', {}, el('code', {}, v.field), ` ${v.description}`))));
  else box.append(words(error));
}

// mark shows a mistake at its field, if there is one.
function mark({ field, description }) {
  const input = [...document.querySelectorAll('#inputs [data-path]')].find((i) => i.dataset.path === field && i.type !== 'range');
  if (!input) return false;
  const id = uniqueID('mistake');
  input.setAttribute('aria-invalid', 'true');
  input.setAttribute('aria-describedby', id);
  input.closest('.field, td').append(el('p', { class: 'mistake', id }, description));
  return true;
}

// asked is the fleet that is sent: with the factor on all demand.
function asked() {
  const fleet = copy(state.fleet);
  for (const w of fleet.workloads) {
    w.load.arrivalRate *= state.factor;
    if (w.load.arrivalRateUpper) w.load.arrivalRateUpper *= state.factor;
  }
  return fleet;
}

let timer = 0;
let running = new AbortController();

// changed asks again, soon; what was asked before is of no use any more.
function changed() {
  clearTimeout(timer);
  running.abort();
  busy(true);
  timer = setTimeout(solve, debounce);
  try {
    sessionStorage.setItem(stored, JSON.stringify({ base: state.base, fleet: state.fleet, factor: state.factor, source: state.source }));
  } catch {
    // Too large to be kept from page to page.
  }
  if (at('document').open) at('text').value = JSON.stringify(asked(), null, 2);
}

async function solve() {
  running = new AbortController();
  const { signal } = running;
  const [results, explanation] = [at('results'), at('explanation')];
  try {
    const fleet = asked();
    const plan = await ask('/v1/optimize', fleet, signal);
    state.unchanged ??= await ask('/v1/optimize', state.base, signal);
    complain(null);
    showPlan(results, { fleet, plan, base: state.base, unchanged: state.unchanged });
    announce(`The plan costs ${number(plan.pricePerHour)} per hour`);
    showExplanation(explanation, await ask('/v1/explain', fleet, signal));
  } catch (error) {
    if (error.name === 'AbortError') return;
    complain(error);
    explanation.replaceChildren();
    if (error instanceof Problem && error.violations.length) {
      results.replaceChildren(el('p', { class: 'card empty' }, 'There is no plan before the mistakes are mended.'));
    }
  }
  busy(false);
}

function busy(yes) {
  for (const id of ['results', 'explanation']) at(id).setAttribute('aria-busy', String(yes));
}

// setPath changes the field of the fleet at a path such as workloads[0].slo.ttft.p95; undefined
// takes it away.
function setPath(path, value) {
  const keys = path.match(/[^.[\]]+/g);
  const last = keys.pop();
  const parent = keys.reduce((x, key) => (x[key] ??= {}), state.fleet);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
}

// numberInput is a field of the fleet; an empty one is absent. read and write translate.
function numberInput(path, value, { label, min = 0, step = 'any', read = Number, write = (x) => x, empty, required = false }) {
  return el('input', {
    type: 'number', min, step, value: value === null || value === undefined ? '' : write(value), 'data-path': path, 'aria-label': label, placeholder: empty, required,
    oninput: (e) => {
      const text = e.target.value;
      if (text === '' && (required || e.target.validity.badInput)) return;
      setPath(path, text === '' ? undefined : read(text));
      changed();
    },
  });
}

function showInputs() {
  const { fleet } = state;
  const many = fleet.workloads.length > mostInputs;
  at('inputs').replaceChildren(
    el('div', { class: 'card' }, el('h3', {}, 'Demand of all workloads'), factorInput(), budgetInput()),
    el('div', { class: 'card' }, el('h3', {}, 'Pools'), poolInputs()),
    ...fleet.workloads.slice(0, mostInputs).map((w, i) => workloadInputs(w, i)),
    ...(many ? [el('p', { class: 'hint' }, `The other ${number(fleet.workloads.length - mostInputs)} workloads can be changed as text.`)] : []),
  );
}

function factorInput() {
  const text = el('output', {}, `${Math.round(100 * state.factor)} %`);
  const slider = el('input', {
    type: 'range', min: 0, max: 400, step: 5, value: Math.round(100 * state.factor), 'aria-label': 'Demand of all workloads in percent', id: 'factor',
    oninput: () => {
      state.factor = Number(slider.value) / 100;
      text.textContent = `${slider.value} %`;
      changed();
    },
  });
  return el('div', { class: 'slider' }, slider, text);
}

function budgetInput() {
  return el('label', { class: 'field inline' }, 'Budget per hour',
    numberInput('objective.budgetPerHour', state.fleet.objective?.budgetPerHour || null, { label: 'Budget per hour', empty: 'none', read: Number }));
}

function poolInputs() {
  const rows = state.fleet.pools.map((p, i) => {
    const name = p.name || p.accelerator;
    return el('tr', {}, el('th', { scope: 'row' }, name, name !== p.accelerator && el('span', { class: 'hint' }, ` ${p.accelerator}`)),
      el('td', { class: 'number' }, numberInput(`pools[${i}].pricePerHour`, p.pricePerHour, { label: `Price per device and hour of ${name}`, required: true })),
      el('td', { class: 'number' }, numberInput(`pools[${i}].capacity`, p.capacity, { label: `Devices of ${name}`, step: 1, empty: 'no limit' })));
  });
  return el('div', { class: 'scroll' }, el('table', {}, el('caption', { class: 'visually-hidden' }, 'Pools'),
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Pool'), el('th', { scope: 'col', class: 'number' }, 'Price'), el('th', { scope: 'col', class: 'number' }, 'Devices'))),
    el('tbody', {}, rows)));
}

function workloadInputs(w, i) {
  const name = nameOf(w);
  const path = `workloads[${i}]`;
  const field = (text, unit, input) => el('label', { class: 'field' }, el('span', {}, text, ' ', el('span', { class: 'unit' }, unit)), input);
  const rate = numberInput(`${path}.load.arrivalRate`, w.load.arrivalRate, { label: `Arrival rate of ${name} in requests/s`, required: true, write: (x) => Number(x.toPrecision(5)) });
  const most = Math.max(1, 4 * state.base.workloads[i].load.arrivalRate);
  const slider = el('input', {
    type: 'range', min: 0, max: most, step: most / 400, value: w.load.arrivalRate, 'aria-label': `Arrival rate of ${name}`,
    oninput: () => {
      rate.value = Number(Number(slider.value).toPrecision(4));
      rate.dispatchEvent(new Event('input'));
    },
  });
  rate.addEventListener('input', () => (slider.value = rate.value));
  return el(
    'fieldset',
    { class: 'card' },
    el('legend', {}, name),
    el('p', { class: 'hint' }, [w.model, w.serviceClass, `priority ${w.priority ?? 1}`].filter(Boolean).join(' · ')),
    el('div', { class: 'slider' }, slider),
    el('div', { class: 'form' },
      field('Arrivals', 'requests/s', rate),
      w.load.shapes?.length ? null : [
        field('Prompt', 'tokens', numberInput(`${path}.load.inputTokens`, w.load.inputTokens, { label: `Prompt tokens of ${name}`, required: true })),
        field('Output', 'tokens', numberInput(`${path}.load.outputTokens`, w.load.outputTokens, { label: `Output tokens of ${name}`, required: true })),
      ],
      sloInputs(w, path, name).map(([text, input]) => field(text, 'ms', input))),
  );
}

// sloInputs are the limits that there are, and one for each latency at least.
function sloInputs(w, path, name) {
  const quantiles = ['mean', 'p50', 'p90', 'p95', 'p99'];
  return [['ttft', 'TTFT'], ['itl', 'ITL']].flatMap(([key, label]) => {
    const there = quantiles.filter((q) => w.slo?.[key]?.[q] !== undefined && w.slo[key][q] !== null);
    return (there.length ? there : ['p95']).map((q) => [
      `${label} ${q}`,
      numberInput(`${path}.slo.${key}.${q}`, w.slo?.[key]?.[q], {
        label: `${label} ${q} of ${name} in milliseconds`, empty: 'none', read: (ms) => duration(Number(ms) / 1000), write: (d) => Number((1000 * seconds(d)).toPrecision(6)),
      }),
    ]);
  });
}

at('live').addEventListener('click', takeLive);
at('reset').addEventListener('click', () => state.base && take(state.base, state.source));
at('apply').addEventListener('click', () => takeText(at('text').value, 'as written'));
at('save').addEventListener('click', () => save('fleet.json', 'application/json', at('text').value));
at('document').addEventListener('toggle', () => {
  if (at('document').open && state.fleet) at('text').value = JSON.stringify(asked(), null, 2);
});
at('file').addEventListener('change', async () => {
  const [file] = at('file').files;
  if (file) await takeText(await file.text(), file.name);
  at('file').value = '';
});

const kept = sessionStorage.getItem(stored);
if (kept) {
  Object.assign(state, JSON.parse(kept));
  at('source').textContent = state.source;
  showInputs();
  changed();
} else {
  await takeLive();
}
