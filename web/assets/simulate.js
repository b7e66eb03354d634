// Runs simulations, and shows what becomes of them.

import { Problem, ask, stream, words } from './api.js';
import { announce, el, save } from './dom.js';
import { number, percent, plural, seconds, span } from './format.js';
import { showResult } from './result.js';

const debounce = 400;
const stored = 'poolwright.simulation';
const whatIf = 'poolwright.what-if';

const at = (id) => document.getElementById(id);

const state = {
  simulation: null, // the message that the text is; null while it is none
  running: null, // the AbortController of what runs
  result: null,
};

function complain(error) {
  const box = at('problem');
  for (const field of document.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
  box.hidden = !error;
  if (!error) return;
  for (const { field } of error.violations ?? []) document.querySelector(`[data-path="${CSS.escape(field.replace(/\[.*$/, ''))}"]`)?.setAttribute('aria-invalid', 'true');
  box.replaceChildren(
    error.violations?.length
      ? el('div', {}, 'The simulation is not right:', el('ul', {}, error.violations.map((v) => el('li', {}, el('code', {}, v.field), ` ${v.description}`))))
      : words(error),
  );
}

// set takes a simulation as text and fields.
function set(simulation, source) {
  state.simulation = simulation;
  at('text').value = JSON.stringify(simulation, null, 2);
  at('text-mistake').textContent = '';
  if (source) at('source').textContent = source;
  keep();
  showFields();
}

function keep() {
  try {
    sessionStorage.setItem(stored, at('text').value);
  } catch {
    // Too large to be kept from page to page.
  }
}

async function setText(text, source) {
  try {
    set(await ask('/read/simulation', text), source);
    complain(null);
  } catch (error) {
    complain(error);
  }
}

// read takes over what was written, and says what is wrong with it.
async function read() {
  keep();
  try {
    state.simulation = await ask('/read/simulation', at('text').value);
    at('text-mistake').textContent = '';
    at('text').removeAttribute('aria-invalid');
    showFields();
  } catch (error) {
    state.simulation = null;
    at('text').setAttribute('aria-invalid', 'true');
    at('text-mistake').textContent = words(error);
  }
}

function showFields() {
  const s = state.simulation;
  const show = (id, text) => {
    if (document.activeElement !== at(id)) at(id).value = text ?? '';
  };
  const minutes = (d) => (seconds(d) === null ? '' : seconds(d) / 60);
  show('duration', minutes(s.duration));
  show('warmup', minutes(s.warmup));
  show('window', seconds(s.window));
  show('seeds', (s.seeds ?? []).join(', '));
  for (const box of at('autoscalers').querySelectorAll('input')) {
    box.checked = (s.autoscalers ?? []).some((a) => box.value in a);
  }
}

// change writes a field of the simulation into the text.
function change(field, value) {
  if (!state.simulation) return;
  const simulation = { ...state.simulation };
  if (value === null) delete simulation[field];
  else simulation[field] = value;
  set(simulation);
}

const fieldOf = (id, factor) => at(id).addEventListener('input', () => {
  if (at(id).validity.badInput) return;
  change(id, at(id).value === '' ? null : `${Number((Number(at(id).value) * factor).toFixed(3))}s`);
});
fieldOf('duration', 60);
fieldOf('warmup', 60);
fieldOf('window', 1);
at('seeds').addEventListener('input', () => change('seeds', at('seeds').value.split(/[\s,]+/).filter(Boolean)));

// showAutoscalers has a box for each kind that the API knows.
async function showAutoscalers() {
  const { definitions } = await ask('/openapi.json');
  const kinds = Object.entries(definitions.Autoscaler?.properties ?? {}).filter(([name]) => name !== 'name');
  at('autoscalers').replaceChildren(...kinds.map(([kind, { description, title }]) => {
    const hint = (title ?? description ?? '').split('\n')[0];
    return el('label', { title: hint }, el('input', { type: 'checkbox', value: kind, onchange: (e) => toggle(kind, e.target.checked) }), ` ${labelOf(kind)}`);
  }));
}

// labelOf is kthenaHeterogeneous as Kthena heterogeneous, and hpa as HPA.
const labelOf = (kind) => {
  if (kind.length <= 3) return kind.toUpperCase();
  const spaced = kind.replace(/([A-Z])/g, ' $1').toLowerCase();
  return spaced[0].toUpperCase() + spaced.slice(1);
};

function toggle(kind, wanted) {
  if (!state.simulation) return;
  const others = (state.simulation.autoscalers ?? []).filter((a) => !(kind in a));
  change('autoscalers', wanted ? [...others, { [kind]: {} }] : others);
}

async function run() {
  clearTimeout(timer);
  await read();
  if (!state.simulation) return;
  complain(null);
  state.running = new AbortController();
  at('run').disabled = true;
  at('cancel').disabled = false;
  at('running').hidden = false;
  progress({ done: 0, runs: 0 });
  announce('The simulation runs');
  try {
    for await (const message of stream('/v1/simulate', { body: state.simulation, signal: state.running.signal })) {
      if (message.progress) progress(message.progress);
      if (message.result) finish(message.result);
    }
  } catch (error) {
    if (error.name === 'AbortError') announce('The simulation was cancelled');
    else complain(error.status === 404 || error.status === 405 || error.status === 501 ? new Problem(error.status, { message: 'This service does not simulate.' }) : error);
  }
  at('run').disabled = false;
  at('cancel').disabled = true;
  at('running').hidden = true;
  if (document.activeElement === document.body) at('run').focus();
}

function progress({ done, remaining, runsDone, runs, requests }) {
  at('progress').value = done;
  at('progress-text').textContent = [
    percent(done, 0),
    runs > 0 && `${number(runsDone)} of ${plural(runs, 'run')}`,
    requests > 0 && `${number(requests)} requests`,
    remaining && `about ${span(Math.max(1, Math.round(seconds(remaining))))} left`,
  ].filter(Boolean).join(' · ');
}

function finish(result) {
  state.result = result;
  at('result-head').hidden = false;
  at('result-name').textContent = result.name || 'Result';
  showResult(at('report'), result);
  announce('The simulation has ended; the result is shown');
  at('result-head').scrollIntoView({ behavior: 'smooth', block: 'start' });
}

const fileName = (ending) => `${(state.result.name || 'simulation').replace(/[^\p{L}\p{N}]+/gu, '-').toLowerCase()}.${ending}`;

// savePage puts the result into the page of a report.
async function savePage() {
  const template = await (await fetch('/report.html')).text();
  const result = JSON.stringify(state.result).replaceAll('<', '\\u003c');
  const title = el('title', {}, `${state.result.name || 'Simulation'} · Poolwright`).outerHTML;
  save(fileName('html'), 'text/html', template.replace(/<title>.*<\/title>/, () => title).replace('id="result">{}<', () => `id="result">${result}<`));
}

async function takeFleet(fleet, name, source) {
  set({ name, fleet, duration: '3600s', seeds: ['1'], autoscalers: [{ poolwright: {} }] }, source);
}

let timer = 0;
at('text').addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(read, debounce);
});
at('run').addEventListener('click', run);
at('cancel').addEventListener('click', () => state.running?.abort());
at('save').addEventListener('click', () => save('simulation.json', 'application/json', at('text').value));
at('save-json').addEventListener('click', () => save(fileName('json'), 'application/json', JSON.stringify(state.result)));
at('save-page').addEventListener('click', savePage);
at('example').addEventListener('click', async () => set(await ask('/simulation.json'), 'example'));
at('live').addEventListener('click', async () => {
  try {
    const { fleet } = await ask('/v1/fleet');
    takeFleet(fleet, 'The live fleet', 'live fleet');
  } catch (error) {
    complain(error);
  }
});
at('what-if').addEventListener('click', () => {
  const { fleet, factor } = JSON.parse(sessionStorage.getItem(whatIf));
  for (const w of fleet.workloads) w.load.arrivalRate *= factor;
  takeFleet(fleet, 'What if', 'fleet of What-if');
});
at('file').addEventListener('change', async () => {
  const [file] = at('file').files;
  if (file) await setText(await file.text(), file.name);
  at('file').value = '';
});

at('what-if').hidden = !sessionStorage.getItem(whatIf);
await showAutoscalers();
const kept = sessionStorage.getItem(stored);
if (kept) {
  at('text').value = kept;
  await read();
} else {
  set(await ask('/simulation.json'), 'example');
}
