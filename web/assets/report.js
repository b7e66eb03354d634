// The page of a report: the result stands in it.

import { announce, el, save } from './dom.js';
import { showResult } from './result.js';

const data = document.getElementById('result').textContent;
const simulated = JSON.parse(data);
document.getElementById('heading').textContent = simulated.name || 'Simulation';
document.getElementById('actions').append(
  el('button', { type: 'button', onclick: () => save('result.json', 'application/json', data) }, 'Save the result as JSON'),
);
showResult(document.getElementById('report'), simulated);
announce('The report is shown');
requestAnimationFrame(() => setTimeout(() => performance.mark('ready')));
